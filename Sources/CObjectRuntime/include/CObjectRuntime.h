#ifndef COBJECTRUNTIME_H
#define COBJECTRUNTIME_H

#include <stddef.h>

#include "CallPlace.h"
#include "ClassSearch.h"
#include "IdentityLock.h"
#include "ObjectAllocation.h"
#include "TrackedReads.h"
#include "VariableArguments.h"

/// The context that owns the calling thread at this moment, as an opaque pointer; NULL when none does.
///
/// A stack is kept by the callers: whoever sets a new owner puts the old one back when its block ends.
void *_Nullable ocd_current_owner(void);
void ocd_set_current_owner(void *_Nullable owner);

/// A fault that is being made on this thread: where it will live, and which initialiser it is for.
///
/// Faults are made by the same initialiser as new objects, because a user's class has only that one; this says
/// what kind is being made. Other objects may be made before that initialiser runs, by stored properties of the class: they are of
/// another class or another entity, and new.
typedef struct ocd_pending_fault {
    const void *_Nonnull home;
    const void *_Nonnull class_metadata;
    const void *_Nonnull entity;
    /// The fault whose initialiser makes this one, in which none has taken its home yet.
    struct ocd_pending_fault *_Nullable outer;
} ocd_pending_fault;

/// Puts a fault on top of those that are pending; it stays in the caller's frame.
void ocd_push_pending_fault(ocd_pending_fault *_Nonnull fault);

/// Takes off a fault whose home was not taken.
void ocd_pop_pending_fault(const ocd_pending_fault *_Nonnull fault);

/// The home of the fault on top, if that is of the class and the entity, and takes it off. NULL where a new object is made.
const void *_Nullable ocd_take_pending_home(const void *_Nonnull class_metadata, const void *_Nonnull entity);

/// The class of which the calling thread makes an instance for a row that is there; NULL for none.
void ocd_set_arriving_class(const void *_Nullable class_metadata);

/// Whether an instance of that class is being made for a row; asked once for each.
_Bool ocd_take_arriving_class(const void *_Nonnull class_metadata);

/// A mark of the calling thread: that reads are being tracked.
void ocd_set_tracking_mark(_Bool is_tracking);
_Bool ocd_tracking_mark(void);

/// Retains the Swift object unless it is being deallocated; whether it did.
_Bool ocd_try_retain(void *_Nonnull object);

#endif
