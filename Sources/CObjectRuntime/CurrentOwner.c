#include "CObjectRuntime.h"

static _Thread_local void *current_owner = NULL;

void *ocd_current_owner(void) { return current_owner; }

void ocd_set_current_owner(void *owner) { current_owner = owner; }
