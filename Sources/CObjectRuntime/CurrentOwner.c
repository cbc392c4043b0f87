#include "CObjectRuntime.h"

static _Thread_local void *current_owner = NULL;
static _Thread_local ocd_pending_fault *pending = NULL;

void *ocd_current_owner(void) { return current_owner; }

void ocd_set_current_owner(void *owner) { current_owner = owner; }

void ocd_push_pending_fault(ocd_pending_fault *fault) {
    fault->outer = pending;
    pending = fault;
}

void ocd_pop_pending_fault(const ocd_pending_fault *fault) {
    if (pending == fault) { pending = fault->outer; }
}

const void *ocd_take_pending_home(const void *class_metadata, const void *entity) {
    const ocd_pending_fault *fault = pending;
    if (fault == NULL || fault->class_metadata != class_metadata || fault->entity != entity) { return NULL; }
    pending = fault->outer;
    return fault->home;
}

static _Thread_local const void *arriving_class = NULL;

void ocd_set_arriving_class(const void *class_metadata) { arriving_class = class_metadata; }

_Bool ocd_take_arriving_class(const void *class_metadata) {
    if (arriving_class != class_metadata) { return 0; }
    arriving_class = NULL;
    return 1;
}

static _Thread_local _Bool tracking_mark = 0;

void ocd_set_tracking_mark(_Bool is_tracking) { tracking_mark = is_tracking; }

_Bool ocd_tracking_mark(void) { return tracking_mark; }

// Part of the Swift runtime's stable interface; it returns NULL for an object whose deinitialiser has begun.
extern void *swift_tryRetain(void *object);

_Bool ocd_try_retain(void *object) { return swift_tryRetain(object) != NULL; }
