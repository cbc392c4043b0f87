#ifndef COBJECTRUNTIME_OBJECTALLOCATION_H
#define COBJECTRUNTIME_OBJECTALLOCATION_H

/// An instance of a Swift class, retained once, for which no initialiser has run: every byte after
/// the object's header is zero.
///
/// Only for classes whose stored properties are valid when they are zero; see StoredExpression.
void *_Nonnull ocd_allocate_object(const void *_Nonnull class_metadata);

#endif
