// Tells callgrind which part of a program to count. Outside of valgrind each call does nothing.
#ifndef CALLGRIND_PARTS_H
#define CALLGRIND_PARTS_H

// Whether somebody counts: 0 outside of valgrind, and where valgrind's headers were missing when this was built.
int callgrind_counts(void);

// Whether valgrind's headers were there when this was built.
int callgrind_knows_valgrind(void);

// From here on the instructions of all threads count.
void callgrind_begin(void);

void callgrind_end(void);

#endif
