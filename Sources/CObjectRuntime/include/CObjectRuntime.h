#ifndef COBJECTRUNTIME_H
#define COBJECTRUNTIME_H

#include <stddef.h>

#include "CallPlace.h"
#include "ClassSearch.h"
#include "IdentityLock.h"
#include "ObjectAllocation.h"
#include "VariableArguments.h"

/// The context that owns the calling thread at this moment, as an opaque pointer; NULL when none does.
///
/// A stack is kept by the callers: whoever sets a new owner puts the old one back when its block ends.
void *_Nullable ocd_current_owner(void);
void ocd_set_current_owner(void *_Nullable owner);

/// The home that the next managed object initialised on this thread takes: it is a fault, and not a new object.
///
/// Faults are made by the same initialiser as new objects, because a user's class has only that one; this says
/// what kind is being made. Taking it clears it.
void ocd_set_pending_home(void *_Nullable home);
void *_Nullable ocd_take_pending_home(void);

/// A mark of the calling thread: that reads are being tracked.
void ocd_set_tracking_mark(_Bool is_tracking);
_Bool ocd_tracking_mark(void);

/// Retains the Swift object unless it is being deallocated; whether it did.
_Bool ocd_try_retain(void *_Nonnull object);

#endif
