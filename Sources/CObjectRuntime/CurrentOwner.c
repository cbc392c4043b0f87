#include "CObjectRuntime.h"

static _Thread_local void *current_owner = NULL;
static _Thread_local void *pending_entity = NULL;

void *ocd_current_owner(void) { return current_owner; }

void ocd_set_current_owner(void *owner) { current_owner = owner; }

void ocd_set_pending_entity(void *entity) { pending_entity = entity; }

void *ocd_take_pending_entity(void) {
    void *entity = pending_entity;
    pending_entity = NULL;
    return entity;
}

// Part of the Swift runtime's stable interface; it returns NULL for an object whose deinitialiser has begun.
extern void *swift_tryRetain(void *object);

_Bool ocd_try_retain(void *object) { return swift_tryRetain(object) != NULL; }
