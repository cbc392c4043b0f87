#ifndef CPASSWORDS_SHIM_H
#define CPASSWORDS_SHIM_H

// scrypt, random bytes, digests, and comparison in constant time.
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#endif
