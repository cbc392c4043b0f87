// What the replacements of the C library's functions share: the lock, the log, and the call that fails.
#ifndef SYSTEM_CALLS_STATE_H
#define SYSTEM_CALLS_STATE_H

#include "SystemCalls.h"

#include <stddef.h>
#include <sys/types.h>

#define SYSTEM_CALLS_PATH 4096
// The result of `system_calls_fails` for a write of half the bytes.
#define SYSTEM_CALLS_HALF -1

void system_calls_lock(void);
void system_calls_unlock(void);

// Whether a descriptor is of a file in the folder.
int system_calls_is_tracked(int file);
void system_calls_track(int file, int isTracked);
// Whether an absolute path is the folder or in it.
int system_calls_is_inside(const char *path);
// The path with the folder's path before it, if there is one; then the folder is AT_FDCWD.
const char *system_calls_resolved(int folder, const char *path, char *place, int *resolved);

// Counts a call. 0 if it is to be done; else `errno` is set, or the result is SYSTEM_CALLS_HALF.
int system_calls_fails(int kind, int takesSpace);

// Files are named by their inodes, 0 for none.
uint64_t system_calls_inode(int file);
uint64_t system_calls_inode_at(const char *path);

void system_calls_note(
    int kind, uint64_t file, uint64_t folder, uint64_t otherFolder, int64_t offset, const char *name,
    const char *otherName);
void system_calls_note_write(int file, const void *bytes, size_t size, int64_t offset);
// A change of a folder's entry at a path; `otherPath` is the new one of a rename.
void system_calls_note_entry(int kind, const char *path, uint64_t file, const char *otherPath);
// A file that is written by its mapping: only the index of a write-ahead log, which has no meaning after a crash.
void system_calls_note_mapping(int file);

#endif
