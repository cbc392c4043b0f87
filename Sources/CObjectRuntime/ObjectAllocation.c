#include "ObjectAllocation.h"

#include <stddef.h>
#include <string.h>

// Functions of the Swift runtime and standard library, which have no header for them. The second is
// _class_getInstancePositiveExtentSize(_: AnyClass) -> Int.
extern void *swift_allocObject(const void *metadata, size_t size, size_t alignment_mask);
extern size_t ocd_instance_size(const void *metadata) __attribute__((swiftcall))
__asm__("$ss36_class_getInstancePositiveExtentSizeySiyXlXpF");

void *ocd_allocate_object(const void *class_metadata) {
    const size_t header = 2 * sizeof(void *);
    size_t size = ocd_instance_size(class_metadata);
    char *object = swift_allocObject(class_metadata, size, 15);
    memset(object + header, 0, size - header);
    return object;
}
