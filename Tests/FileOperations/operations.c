#define _GNU_SOURCE
#include "FileOperations.h"

#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_int isCounting;
static _Atomic enum file_operations_end end;
static _Atomic int64_t last;
static _Atomic int64_t count;

void file_operations_begin(int64_t number, enum file_operations_end how) {
    last = number;
    end = how;
    count = 0;
    isCounting = 1;
}

int64_t file_operations_count(void) { return count; }

static void die(void) {
    for (;;) kill(getpid(), SIGKILL);
}

// Says so to who reads standard output, and waits for SIGCONT.
static void stop(void) {
    static const char word[] = "stopped\n";
    syscall(SYS_write, 1, word, sizeof word - 1);
    kill(getpid(), SIGSTOP);
}

// Counts an operation. Where it is not to be done `errno` tells why; what takes no space is done on a full disk.
static int fails(int takesSpace) {
    if (!isCounting) return 0;
    int64_t number = atomic_fetch_add(&count, 1) + 1;
    if (last == 0 || number < last) return 0;
    switch (end) {
        case file_operations_kill:
        case file_operations_kill_half:
            if (number == last) die();
            return 0;
        case file_operations_fail:
            errno = EIO;
            return number == last;
        case file_operations_full:
            errno = ENOSPC;
            return takesSpace;
        case file_operations_stop:
            if (number == last) stop();
            return 0;
        case file_operations_stop_and_fail:
            if (number != last) return 0;
            stop();
            errno = EIO;
            return 1;
    }
    return 0;
}

// The next operation is the one in whose middle the program is killed.
static int isHalf(size_t size) {
    return isCounting && end == file_operations_kill_half && size > 1 && count + 1 == last;
}

ssize_t write(int file, const void *bytes, size_t size) {
    if (file > 2) {
        if (isHalf(size)) syscall(SYS_write, file, bytes, size / 2);
        if (fails(1)) return -1;
    }
    return syscall(SYS_write, file, bytes, size);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
    if (isHalf(size)) syscall(SYS_pwrite64, file, bytes, size / 2, offset);
    if (fails(1)) return -1;
    return syscall(SYS_pwrite64, file, bytes, size, offset);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) { return pwrite64(file, bytes, size, offset); }

ssize_t sendfile(int to, int from, off_t *offset, size_t size) {
    if (fails(1)) return -1;
    return syscall(SYS_sendfile, to, from, offset, size);
}

ssize_t copy_file_range(int from, off64_t *start, int to, off64_t *place, size_t size, unsigned flags) {
    if (fails(1)) return -1;
    return syscall(SYS_copy_file_range, from, start, to, place, size, flags);
}

int ftruncate64(int file, off64_t size) {
    if (fails(size > 0)) return -1;
    return (int)syscall(SYS_ftruncate, file, size);
}

int ftruncate(int file, off_t size) { return ftruncate64(file, size); }

int truncate64(const char *path, off64_t size) {
    if (fails(size > 0)) return -1;
    return (int)syscall(SYS_truncate, path, size);
}

int truncate(const char *path, off_t size) { return truncate64(path, size); }

int renameat(int from, const char *old, int to, const char *new) {
    if (fails(0)) return -1;
    return (int)syscall(SYS_renameat2, from, old, to, new, 0);
}

int rename(const char *old, const char *new) { return renameat(AT_FDCWD, old, AT_FDCWD, new); }

int unlinkat(int folder, const char *path, int flags) {
    if (fails(0)) return -1;
    return (int)syscall(SYS_unlinkat, folder, path, flags);
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }

int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int remove(const char *path) {
    if (unlinkat(AT_FDCWD, path, 0) == 0) return 0;
    return errno == EISDIR || errno == EPERM ? rmdir(path) : -1;
}

int mkdir(const char *path, mode_t mode) {
    if (fails(1)) return -1;
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int link(const char *old, const char *new) {
    if (fails(1)) return -1;
    return (int)syscall(SYS_linkat, AT_FDCWD, old, AT_FDCWD, new, 0);
}

static int opened(int folder, const char *path, int flags, mode_t mode) {
    // Files that are there already do not change by that.
    if (flags & (O_CREAT | O_TRUNC) && fails((flags & O_CREAT) != 0 && faccessat(folder, path, F_OK, 0) != 0)) return -1;
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

#define MODE_OF(flags, mode)              \
    mode_t mode = 0;                      \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list rest;                     \
        va_start(rest, flags);            \
        mode = va_arg(rest, mode_t);      \
        va_end(rest);                     \
    }

int open(const char *path, int flags, ...) {
    MODE_OF(flags, mode)
    return opened(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE_OF(flags, mode)
    return opened(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    MODE_OF(flags, mode)
    return opened(folder, path, flags, mode);
}

#else

void file_operations_begin(int64_t number, enum file_operations_end how) {}
int64_t file_operations_count(void) { return 0; }

#endif
