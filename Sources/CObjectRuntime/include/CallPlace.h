#ifndef COBJECTRUNTIME_CALLPLACE_H
#define COBJECTRUNTIME_CALLPLACE_H

#include <stdint.h>

/// A number for the way of calls that leads here: the same for a loop's rounds, others for other callers. Where calls
/// cannot be followed, another number each time.
uint64_t ocd_call_place(void);

#endif
