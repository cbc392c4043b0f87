#include "ClassSearch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__ELF__)

// How the Swift runtime lists the types of an image, and how it describes one: parts of Swift's stable ABI.

typedef struct {
    uintptr_t start;
    size_t length;
} section;

typedef struct {
    uintptr_t version;
    const void *base_address;
    void *unused[2];
    section protocols;
    section conformances;
    section types;
} image_sections;

/// A type, an extension, a module: what others are in. References are distances from the field that has them.
typedef struct {
    uint32_t flags;
    int32_t parent;
    int32_t name;
    int32_t access_function;
    /// Of types only.
    int32_t fields;
    /// Of classes only: a name, which begins with a reference to the superclass's description.
    int32_t superclass;
} context_description;

enum { kind_mask = 0x1f, kind_module = 0, kind_class = 16, flag_generic = 0x80 };

typedef struct {
    const void *value;
    size_t state;
} metadata_response;

typedef __attribute__((swiftcall)) metadata_response (*metadata_access)(size_t request);

extern void swift_enumerateAllMetadataSections(
    bool (*body)(const void *sections, void *context), void *context);

typedef struct {
    const char *name;
    ocd_class_visitor visit;
    void *context;
} search;

static const void *at_distance(const int32_t *field, int32_t distance) { return (const char *)field + distance; }

/// The lowest bit says that the distance leads to the address and not to the thing itself.
static const context_description *parent_of(const context_description *description) {
    int32_t distance = description->parent;
    if (distance == 0) { return NULL; }
    const void *target = at_distance(&description->parent, distance & ~1);
    return distance & 1 ? *(const context_description *const *)target : target;
}

static const char *module_of(const context_description *description) {
    while (description != NULL && (description->flags & kind_mask) != kind_module) {
        description = parent_of(description);
    }
    return description == NULL ? "" : at_distance(&description->name, description->name);
}

/// A record is the distance to a type's description; its two lowest bits are 1 where that is an address.
static const context_description *description_of(const int32_t *record) {
    const void *target = at_distance(record, *record & ~3);
    switch (*record & 3) {
    case 0: return target;
    case 1: return *(const context_description *const *)target;
    default: return NULL;
    }
}

static bool search_image(const void *sections, void *context) {
    const image_sections *image = sections;
    const search *wanted = context;
    const int32_t *records = (const int32_t *)image->types.start;
    size_t count = image->types.length / sizeof(int32_t);
    for (size_t index = 0; index < count; index++) {
        const context_description *type = description_of(&records[index]);
        if (type == NULL || (type->flags & kind_mask) != kind_class || type->flags & flag_generic) { continue; }
        if (strcmp(at_distance(&type->name, type->name), wanted->name) != 0) { continue; }
        metadata_access access = (metadata_access)at_distance(&type->access_function, type->access_function);
        const void *metadata = access(0).value;
        if (metadata != NULL) { wanted->visit(metadata, module_of(type), wanted->context); }
    }
    return true;
}

/// What a class derives from; NULL where that is not written as a reference.
static const context_description *superclass_of(const context_description *type) {
    if (type->superclass == 0) { return NULL; }
    const char *name = at_distance(&type->superclass, type->superclass);
    int32_t distance;
    memcpy(&distance, name + 1, sizeof distance);
    const void *target = name + 1 + distance;
    switch (*name) {
    case 1: return target;
    case 2: return *(const context_description *const *)target;
    default: return NULL;
    }
}

static bool derives_from(const context_description *type, const context_description *base) {
    for (int depth = 0; depth < 64 && type != NULL && (type->flags & kind_mask) == kind_class; depth++) {
        if (type == base) { return true; }
        type = superclass_of(type);
    }
    return false;
}

typedef struct {
    const context_description *base;
    ocd_class_visitor visit;
    void *context;
} subclass_search;

static bool search_image_for_subclasses(const void *sections, void *context) {
    const image_sections *image = sections;
    const subclass_search *wanted = context;
    const int32_t *records = (const int32_t *)image->types.start;
    size_t count = image->types.length / sizeof(int32_t);
    for (size_t index = 0; index < count; index++) {
        const context_description *type = description_of(&records[index]);
        if (type == NULL || (type->flags & kind_mask) != kind_class || type->flags & flag_generic) { continue; }
        if (type == wanted->base || !derives_from(type, wanted->base)) { continue; }
        metadata_access access = (metadata_access)at_distance(&type->access_function, type->access_function);
        const void *metadata = access(0).value;
        if (metadata != NULL) { wanted->visit(metadata, module_of(type), wanted->context); }
    }
    return true;
}

void ocd_for_each_subclass(const void *base_description, ocd_class_visitor visit, void *context) {
    subclass_search wanted = {base_description, visit, context};
    swift_enumerateAllMetadataSections(search_image_for_subclasses, &wanted);
}

void ocd_for_each_class_named(const char *name, ocd_class_visitor visit, void *context) {
    search wanted = {name, visit, context};
    swift_enumerateAllMetadataSections(search_image, &wanted);
}

#else

void ocd_for_each_class_named(const char *name, ocd_class_visitor visit, void *context) {}

void ocd_for_each_subclass(const void *base_description, ocd_class_visitor visit, void *context) {}

#endif
