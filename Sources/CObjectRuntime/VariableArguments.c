#include "VariableArguments.h"

void ocd_read_arguments(const char *kinds, int count, va_list list, ocd_argument *arguments) {
    for (int index = 0; index < count; index++) {
        switch (kinds[index]) {
        case 'i': arguments[index].integer = va_arg(list, int); break;
        case 'l': arguments[index].integer = va_arg(list, int64_t); break;
        case 'd': arguments[index].real = va_arg(list, double); break;
        default: arguments[index].pointer = va_arg(list, const void *); break;
        }
    }
}
