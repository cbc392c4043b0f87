// Records the system calls by which a program changes the files of a folder, and has one of them fail.
//
// Every program that links this library gets replacements of the C library's functions; they also serve the libraries
// that the program uses, such as SQLite and Foundation.
#ifndef SYSTEM_CALLS_H
#define SYSTEM_CALLS_H

#include <stdint.h>

// How the chosen call fails.
enum system_calls_failure {
    // As on a full disk: ENOSPC. Opening an existing file: EMFILE. Mapping: ENOMEM.
    system_calls_full,
    // EIO.
    system_calls_error,
    // EINTR, for the calls that a signal may interrupt.
    system_calls_interrupt,
    // A write writes half of its bytes and returns their number; it does not fail.
    system_calls_short,
};

// Kinds of records and of calls. A record begins with a `system_calls_record`, then come name and data.
enum system_calls_kind {
    // A file was created: folder, name, file.
    system_calls_create = 1,
    system_calls_make_folder = 2,
    // Bytes were written: file, offset, data.
    system_calls_write = 3,
    // A file has a new size: file, offset.
    system_calls_resize = 4,
    // A file's data or a folder's entries are on the disk: file.
    system_calls_synchronize = 5,
    // Folder, name, other folder, and the other name after a NUL.
    system_calls_rename = 6,
    system_calls_unlink = 7,
    system_calls_remove_folder = 8,
    // A file has another name: folder, name, file.
    system_calls_link = 9,
    // The program has announced a number.
    system_calls_mark = 10,
    // The program has changed a file in a way that is not recorded: the name says how.
    system_calls_unknown = 11,
    // Counted and made to fail, but not recorded.
    system_calls_open = 12,
    system_calls_map = 13,
};

struct system_calls_record {
    uint32_t kind;
    uint32_t name_size;
    uint64_t file;
    uint64_t folder;
    uint64_t other_folder;
    int64_t offset;
    uint64_t data_size;
};

// From now on, changes of files in the folder are appended to the log. Paths are absolute and without links.
void system_calls_record_to(const char *folder, const char *log);

// From now on, calls for files in the folder are counted, and the call with that number fails; none with 0.
void system_calls_fail_at(const char *folder, int64_t number, enum system_calls_failure failure);

// Appends a mark to the log.
void system_calls_append_mark(int64_t number);

// The number of counted calls.
int64_t system_calls_count(void);

// The kind of a counted call; 0 if there are not so many, or if it is too far back.
int32_t system_calls_kind_of(int64_t number);

// The kind of the call that failed; 0 if none did.
int32_t system_calls_failed_kind(void);

// The number of open descriptors of files in the folder.
int64_t system_calls_open_count(void);

#endif
