// Lets the thread sanitizer see the locks of Swift's Mutex: loaded with LD_PRELOAD by sanitize.sh.
//
// Mutex locks in code that is compiled into its user, and so instrumented, as long as nobody waits. To wait it calls
// libswiftSynchronization.so, which is not instrumented: the sanitizer does not see that lock and reports everything
// that two threads did under it. These functions stand before that library's, call them, and say what they did.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// Absent in programs without the sanitizer, such as swift-test itself.
void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

#define SWIFT_SELF __attribute__((swift_context))
#define SWIFT_CALL __attribute__((swiftcall))

// Synchronization._MutexHandle._lockSlow(UInt32)
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
// Synchronization._MutexHandle._tryLockSlow() -> Bool
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
// Synchronization._MutexHandle._unlockSlow()
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef SWIFT_CALL void (*lock_function)(uint32_t thread, SWIFT_SELF void *mutex);
typedef SWIFT_CALL bool (*try_lock_function)(SWIFT_SELF void *mutex);
typedef SWIFT_CALL void (*unlock_function)(SWIFT_SELF void *mutex);

SWIFT_CALL void lock_slow(uint32_t thread, SWIFT_SELF void *mutex) __asm__(LOCK);
SWIFT_CALL bool try_lock_slow(SWIFT_SELF void *mutex) __asm__(TRY_LOCK);
SWIFT_CALL void unlock_slow(SWIFT_SELF void *mutex) __asm__(UNLOCK);

static lock_function next_lock;
static try_lock_function next_try_lock;
static unlock_function next_unlock;

// Before the program's first thread, since dlsym takes locks of its own.
__attribute__((constructor)) static void find(void) {
    next_lock = (lock_function)dlsym(RTLD_NEXT, LOCK);
    next_try_lock = (try_lock_function)dlsym(RTLD_NEXT, TRY_LOCK);
    next_unlock = (unlock_function)dlsym(RTLD_NEXT, UNLOCK);
}

SWIFT_CALL void lock_slow(uint32_t thread, SWIFT_SELF void *mutex) {
    next_lock(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT_CALL bool try_lock_slow(SWIFT_SELF void *mutex) {
    bool locked = next_try_lock(mutex);
    if (locked && __tsan_acquire) __tsan_acquire(mutex);
    return locked;
}

SWIFT_CALL void unlock_slow(SWIFT_SELF void *mutex) {
    if (__tsan_release) __tsan_release(mutex);
    next_unlock(mutex);
}
