#include "CObjectRuntime.h"

static _Thread_local void *current_owner = NULL;
static _Thread_local void *pending_home = NULL;

void *ocd_current_owner(void) { return current_owner; }

void ocd_set_current_owner(void *owner) { current_owner = owner; }

void ocd_set_pending_home(void *home) { pending_home = home; }

static _Thread_local _Bool tracking_mark = 0;

void ocd_set_tracking_mark(_Bool is_tracking) { tracking_mark = is_tracking; }

_Bool ocd_tracking_mark(void) { return tracking_mark; }

void *ocd_take_pending_home(void) {
    void *home = pending_home;
    pending_home = NULL;
    return home;
}

// Part of the Swift runtime's stable interface; it returns NULL for an object whose deinitialiser has begun.
extern void *swift_tryRetain(void *object);

_Bool ocd_try_retain(void *object) { return swift_tryRetain(object) != NULL; }
