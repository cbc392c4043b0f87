#ifndef COBJECTRUNTIME_H
#define COBJECTRUNTIME_H

#include <stddef.h>

/// The context that owns the calling thread at this moment, as an opaque pointer; NULL when none does.
///
/// A stack is kept by the callers: whoever sets a new owner puts the old one back when its block ends.
void *_Nullable ocd_current_owner(void);
void ocd_set_current_owner(void *_Nullable owner);

#endif
