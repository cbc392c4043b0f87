// Counts what a program does to files, and kills it at one of them.
//
// The functions of the C library that change files are replaced in every program that links this, libraries that it uses
// included. Reading is not counted, nor is what goes to standard output and error.
#ifndef FILE_OPERATIONS_H
#define FILE_OPERATIONS_H

#include <stdint.h>

// From now on operations are counted. The one of that number, from 1 on, is not done: the program is killed (SIGKILL) in
// its place. Where `half` is not 0 and it writes bytes, half of them are written before. 0 kills at none.
void file_operations_begin(int64_t number, int half);

// How many there have been.
int64_t file_operations_count(void);

#endif
