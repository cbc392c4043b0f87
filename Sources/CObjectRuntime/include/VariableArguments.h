#ifndef COBJECTRUNTIME_VARIABLEARGUMENTS_H
#define COBJECTRUNTIME_VARIABLEARGUMENTS_H

#include <stdarg.h>
#include <stdint.h>

/// One argument of a format, read by its kind.
typedef union {
    int64_t integer;
    double real;
    const void *_Nullable pointer;
} ocd_argument;

/// Reads `count` arguments off a list. Kinds: 'i' int, 'l' 64-bit integer, 'd' double, 'p' pointer.
void ocd_read_arguments(const char *_Nonnull kinds, int count, va_list list, ocd_argument *_Nonnull arguments);

#endif
