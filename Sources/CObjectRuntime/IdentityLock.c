#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

#include "IdentityLock.h"

// Each on a line of its own in the processor's cache, so that objects of different contexts seldom wait for each other.
static struct {
    _Alignas(64) atomic_bool is_taken;
} locks[64];

static atomic_bool *lock_of(const void *object) {
    uintptr_t address = (uintptr_t)object;
    // Objects begin at multiples of 16 bytes.
    return &locks[((address >> 4) ^ (address >> 12)) % 64].is_taken;
}

void ocd_lock_identity(const void *object) {
    atomic_bool *lock = lock_of(object);
    while (atomic_exchange_explicit(lock, 1, memory_order_acquire)) sched_yield();
}

void ocd_unlock_identity(const void *object) {
    atomic_store_explicit(lock_of(object), 0, memory_order_release);
}
