#include "Callgrind.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>

int callgrind_knows_valgrind(void) { return 1; }

int callgrind_counts(void) { return RUNNING_ON_VALGRIND != 0; }

// Instrumentation belongs to the whole process, while callgrind's other switch, collection, belongs to one thread.
void callgrind_begin(void) { CALLGRIND_START_INSTRUMENTATION; }

void callgrind_end(void) { CALLGRIND_STOP_INSTRUMENTATION; }

#else

int callgrind_knows_valgrind(void) { return 0; }

int callgrind_counts(void) { return 0; }

void callgrind_begin(void) {}

void callgrind_end(void) {}

#endif
