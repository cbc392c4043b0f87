#ifndef TRACKEDREADS_H
#define TRACKEDREADS_H

#include <stddef.h>

// Whether `withObservationTracking` tracks reads on the calling thread.
//
// Swift's module Observation keeps the list of what is read in a variable of the thread, and says nothing of it to others. Where that
// variable is in the module's variables of a thread is found out once, by looking at all of them with and without tracking; each thread then
// finds its own with one call of the loader's. Nothing is assumed of it: who cannot find exactly one such variable asks a registrar.

/// 1 or 0; -1 where the calling thread does not know its variable yet: see ``ocd_find_tracking_word``.
int ocd_reads_are_tracked(void);

/// Finds the calling thread's variable once its place is known; whether it did.
_Bool ocd_find_tracking_word(void);

/// Copies the variables that the calling thread has of the module with this address, and returns how many there are, in words; 0 where they are
/// not to be had, or more than fit.
size_t ocd_copy_thread_words(const void *_Nonnull address, void *_Nullable *_Nonnull words, size_t capacity);

/// Sets the place of the variable among those of the module with this address.
void ocd_set_tracking_word(const void *_Nonnull address, size_t index);

#endif
