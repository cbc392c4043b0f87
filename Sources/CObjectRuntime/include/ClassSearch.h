#ifndef COBJECTRUNTIME_CLASSSEARCH_H
#define COBJECTRUNTIME_CLASSSEARCH_H

/// Told of a class: its metadata, and the name of the module that declares it.
typedef void (*ocd_class_visitor)(
    const void *_Nonnull class_metadata, const char *_Nonnull module, void *_Nullable context);

/// Calls `visit` for each class of that name, without module and outer types, in the program and the libraries it has
/// loaded; generic classes are left out.
///
/// The Swift runtime finds types by their full names only, but it lists them all: this goes through its lists.
void ocd_for_each_class_named(const char *_Nonnull name, ocd_class_visitor _Nonnull visit, void *_Nullable context);

/// Calls `visit` for each class below one that is described so, as above: what a class's metadata refers to is its description.
void ocd_for_each_subclass(
    const void *_Nonnull base_description, ocd_class_visitor _Nonnull visit, void *_Nullable context);

#endif
