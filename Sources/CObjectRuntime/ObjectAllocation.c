#include "ObjectAllocation.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Functions of the Swift runtime and standard library, which have no header for them. The last is
// _class_getInstancePositiveExtentSize(_: AnyClass) -> Int.
extern void *swift_allocObject(const void *metadata, size_t size, size_t alignment_mask);
extern void *swift_retain(void *object);
extern void swift_release(void *object);
extern size_t ocd_extent(const void *metadata) __attribute__((swiftcall))
__asm__("$ss36_class_getInstancePositiveExtentSizeySiyXlXpF");

size_t ocd_instance_size(const void *class_metadata) { return ocd_extent(class_metadata); }

static char *allocate(const void *class_metadata, size_t size) {
    const size_t header = 2 * sizeof(void *);
    char *object = swift_allocObject(class_metadata, size, 15);
    memset(object + header, 0, size - header);
    return object;
}

void *ocd_allocate_object(const void *class_metadata) {
    return allocate(class_metadata, ocd_extent(class_metadata));
}

void ocd_retain(void *object) { swift_retain(object); }

// MARK: Instances with a payload behind them

// What destroys an instance when the last reference goes; it is before the address point of its class's metadata.
typedef void (*destroyer)(__attribute__((swift_context)) void *object) __attribute__((swiftcall));

typedef struct {
    void *payload;
    destroyer original;
} tail;

static tail *tail_of(void *object) {
    size_t size = ocd_extent(*(const void **)object);
    return (tail *)((char *)object + ((size + 15) & ~(size_t)15));
}

__attribute__((swiftcall)) static void destroy(__attribute__((swift_context)) void *object) {
    tail what = *tail_of(object);
    what.original(object);
    swift_release(what.payload);
}

static destroyer *destroyer_of(const void *class_metadata) { return (destroyer *)class_metadata - 2; }

void *ocd_destroyer(const void *class_metadata) {
    destroyer present = *destroyer_of(class_metadata);
    return present == destroy ? NULL : (void *)present;
}

void *ocd_allocate_with_payload(const void *class_metadata, void *payload, void *original) {
    if (!ocd_is_writable(destroyer_of(class_metadata))) return NULL;
    size_t size = (ocd_extent(class_metadata) + 15) & ~(size_t)15;
    char *object = allocate(class_metadata, size + sizeof(tail));
    *tail_of(object) = (tail){swift_retain(payload), (destroyer)original};
    ocd_replace_word((void **)destroyer_of(class_metadata), (void *)destroy);
    return object;
}

void *ocd_payload(void *object) {
    return *destroyer_of(*(const void **)object) == destroy ? tail_of(object)->payload : NULL;
}
