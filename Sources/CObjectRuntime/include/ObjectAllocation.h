#ifndef COBJECTRUNTIME_OBJECTALLOCATION_H
#define COBJECTRUNTIME_OBJECTALLOCATION_H

#include <stdbool.h>
#include <stddef.h>

/// How many bytes an instance of a Swift class has, its header included.
size_t ocd_instance_size(const void *_Nonnull class_metadata);

/// An instance of a Swift class, retained once, for which no initialiser has run: every byte after
/// the object's header is zero.
///
/// Only for classes whose stored properties are valid when they are zero, or are made valid before anybody sees the
/// instance; see StoredExpression and StoredProperties.
void *_Nonnull ocd_allocate_object(const void *_Nonnull class_metadata);

/// Retains a Swift object.
void ocd_retain(void *_Nonnull object);

/// What destroys instances of the class; NULL where ocd_allocate_with_payload has replaced it.
void *_Nullable ocd_destroyer(const void *_Nonnull class_metadata);

/// As ocd_allocate_object, with room for a reference behind the instance's own bytes. It is retained, and released when
/// the instance is gone; `original` is what ocd_destroyer said before the first call for this class. NULL where the class's
/// metadata cannot be written.
///
/// Only for classes of which all instances are made by this function.
void *_Nullable ocd_allocate_with_payload(
    const void *_Nonnull class_metadata, void *_Nonnull payload, void *_Nonnull original);

/// The reference behind an instance; NULL where it was made by somebody else.
void *_Nullable ocd_payload(void *_Nonnull object);

/// Whether a word of a class's metadata can be written without changing the protection of its page.
bool ocd_is_writable(const void *_Nonnull place);

/// Writes a word of a class's metadata; whether that was possible.
bool ocd_replace_word(void *_Nullable *_Nonnull place, void *_Nullable word);

#endif
