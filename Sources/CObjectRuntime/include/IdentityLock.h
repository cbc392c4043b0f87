#ifndef COBJECTRUNTIME_IDENTITYLOCK_H
#define COBJECTRUNTIME_IDENTITYLOCK_H

/// Keeps others from an object's key and home while they change or are read together, on whatever thread: for a few
/// instructions, in which nothing is called. Objects share 64 locks, so a thread takes one at a time.
void ocd_lock_identity(const void *_Nonnull object);
void ocd_unlock_identity(const void *_Nonnull object);

#endif
