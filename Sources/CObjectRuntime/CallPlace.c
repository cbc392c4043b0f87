#include "CallPlace.h"

#include <stddef.h>

#if defined(__has_include)
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define OCD_HAS_BACKTRACE 1
#endif
#endif

uint64_t ocd_call_place(void) {
    // FNV-1a over the return addresses.
    uint64_t place = 0xcbf29ce484222325;
#ifdef OCD_HAS_BACKTRACE
    void *frames[24];
    int count = backtrace(frames, 24);
    for (int index = 1; index < count; index++) {
        place = (place ^ (uintptr_t)frames[index]) * 0x100000001b3;
    }
#else
    static uint64_t calls = 0;
    place += __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
#endif
    return place;
}
