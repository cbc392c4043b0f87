// Counts what a program does to files, and kills it at one of them, or has it fail.
//
// The functions of the C library that change files are replaced in every program that links this, libraries that it uses
// included. Reading is not counted, nor is what goes to standard output and error.
#ifndef FILE_OPERATIONS_H
#define FILE_OPERATIONS_H

#include <stdint.h>

// What becomes of an operation.
enum file_operations_end {
    // It is not done: the program is killed (SIGKILL) in its place.
    file_operations_kill,
    // As before; of one that writes bytes half are written.
    file_operations_kill_half,
    // It fails, with EIO.
    file_operations_fail,
    // From then on the disk is full: what takes space fails, with ENOSPC.
    file_operations_full,
    // The program writes `stopped` to standard output and stops itself (SIGSTOP) before the operation, which is done when it goes on.
    file_operations_stop,
    // The same; the operation fails then, with EIO.
    file_operations_stop_and_fail,
};

// From now on operations are counted, from 1 on; `how` says what becomes of that one. With 0 nothing does.
void file_operations_begin(int64_t number, enum file_operations_end how);

// How many there have been.
int64_t file_operations_count(void);

#endif
