#ifndef CCRYPTO_SHIM_H
#define CCRYPTO_SHIM_H

// SHA256() looks its algorithm up by name at each call, which takes longer than to hash a property. What does not is
// there as ever, and only called deprecated since OpenSSL 3.
#define OPENSSL_SUPPRESS_DEPRECATED 1
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#endif
