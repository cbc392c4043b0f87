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
static atomic_int killsHalfWay;
static _Atomic int64_t fatal;
static _Atomic int64_t count;

void file_operations_begin(int64_t number, int half) {
    fatal = number;
    killsHalfWay = half;
    count = 0;
    isCounting = 1;
}

int64_t file_operations_count(void) { return count; }

static int isDue(void) {
    if (!isCounting) return 0;
    return atomic_fetch_add(&count, 1) + 1 == fatal;
}

static void die(void) {
    for (;;) kill(getpid(), SIGKILL);
}

static void note(void) {
    if (isDue()) die();
}

ssize_t write(int file, const void *bytes, size_t size) {
    if (file > 2 && isDue()) {
        if (killsHalfWay && size > 1) syscall(SYS_write, file, bytes, size / 2);
        die();
    }
    return syscall(SYS_write, file, bytes, size);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
    if (isDue()) {
        if (killsHalfWay && size > 1) syscall(SYS_pwrite64, file, bytes, size / 2, offset);
        die();
    }
    return syscall(SYS_pwrite64, file, bytes, size, offset);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) { return pwrite64(file, bytes, size, offset); }

ssize_t sendfile(int to, int from, off_t *offset, size_t size) {
    note();
    return syscall(SYS_sendfile, to, from, offset, size);
}

ssize_t copy_file_range(int from, off64_t *start, int to, off64_t *place, size_t size, unsigned flags) {
    note();
    return syscall(SYS_copy_file_range, from, start, to, place, size, flags);
}

int ftruncate64(int file, off64_t size) {
    note();
    return (int)syscall(SYS_ftruncate, file, size);
}

int ftruncate(int file, off_t size) { return ftruncate64(file, size); }

int truncate64(const char *path, off64_t size) {
    note();
    return (int)syscall(SYS_truncate, path, size);
}

int truncate(const char *path, off_t size) { return truncate64(path, size); }

int renameat(int from, const char *old, int to, const char *new) {
    note();
    return (int)syscall(SYS_renameat2, from, old, to, new, 0);
}

int rename(const char *old, const char *new) { return renameat(AT_FDCWD, old, AT_FDCWD, new); }

int unlinkat(int folder, const char *path, int flags) {
    note();
    return (int)syscall(SYS_unlinkat, folder, path, flags);
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }

int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int remove(const char *path) {
    if (unlinkat(AT_FDCWD, path, 0) == 0) return 0;
    return errno == EISDIR || errno == EPERM ? rmdir(path) : -1;
}

int mkdir(const char *path, mode_t mode) {
    note();
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int link(const char *old, const char *new) {
    note();
    return (int)syscall(SYS_linkat, AT_FDCWD, old, AT_FDCWD, new, 0);
}

static int opened(int folder, const char *path, int flags, mode_t mode) {
    // Files that are there already do not change by that.
    if (flags & (O_CREAT | O_TRUNC)) note();
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

void file_operations_begin(int64_t number, int half) {}
int64_t file_operations_count(void) { return 0; }

#endif
