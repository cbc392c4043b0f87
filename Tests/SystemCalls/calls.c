#define _GNU_SOURCE
#include "SystemCalls.h"

#ifdef __linux__

#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

// The replacements of the C library's functions. Each takes the lock, so that the order of the log is the order in which
// the calls had their effects.

// Weak: the bundle of all tests contains the replacements of FileOperations, too, which then count.
#define REPLACEMENT __attribute__((weak))

static ssize_t written(int file, const void *bytes, size_t size, off64_t offset, int hasOffset) {
    if (!system_calls_is_tracked(file)) {
        return hasOffset ? syscall(SYS_pwrite64, file, bytes, size, offset) : syscall(SYS_write, file, bytes, size);
    }
    system_calls_lock();
    size_t count = size;
    ssize_t result = -1;
    int failure = system_calls_fails(system_calls_write, 1);
    if (failure == SYSTEM_CALLS_HALF && size > 1) count = size / 2;
    if (failure <= 0) {
        off64_t place = offset;
        if (!hasOffset) {
            int flags = (int)syscall(SYS_fcntl, file, F_GETFL);
            place = syscall(SYS_lseek, file, 0, flags & O_APPEND ? SEEK_END : SEEK_CUR);
        }
        result = hasOffset ? syscall(SYS_pwrite64, file, bytes, count, offset) : syscall(SYS_write, file, bytes, count);
        if (result > 0) system_calls_note_write(file, bytes, (size_t)result, place);
    }
    system_calls_unlock();
    return result;
}

REPLACEMENT ssize_t write(int file, const void *bytes, size_t size) { return written(file, bytes, size, 0, 0); }
REPLACEMENT ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
    return written(file, bytes, size, offset, 1);
}
REPLACEMENT ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) { return written(file, bytes, size, offset, 1); }

// As the single writes of its parts.
REPLACEMENT ssize_t writev(int file, const struct iovec *parts, int count) {
    if (!system_calls_is_tracked(file)) return syscall(SYS_writev, file, parts, count);
    ssize_t total = 0;
    for (int part = 0; part < count; part++) {
        ssize_t result = written(file, parts[part].iov_base, parts[part].iov_len, 0, 0);
        if (result < 0) return total > 0 ? total : -1;
        total += result;
        if ((size_t)result < parts[part].iov_len) break;
    }
    return total;
}

// Copies between descriptors are read and written, so that their bytes are known. At most 64 KiB at a time.
static ssize_t copied(int to, off64_t *place, int from, off64_t *start, size_t size) {
    char bytes[1 << 16];
    if (size > sizeof bytes) size = sizeof bytes;
    ssize_t count = start ? syscall(SYS_pread64, from, bytes, size, *start) : syscall(SYS_read, from, bytes, size);
    if (count <= 0) return count;
    ssize_t result = written(to, bytes, (size_t)count, place ? *place : 0, place != NULL);
    ssize_t done = result > 0 ? result : 0;
    if (start) *start += done;
    else if (done < count) syscall(SYS_lseek, from, done - count, SEEK_CUR);
    if (place) *place += done;
    return result;
}

REPLACEMENT ssize_t sendfile(int to, int from, off_t *offset, size_t size) {
    if (!system_calls_is_tracked(to)) return syscall(SYS_sendfile, to, from, offset, size);
    return copied(to, NULL, from, offset, size);
}

REPLACEMENT ssize_t sendfile64(int to, int from, off64_t *offset, size_t size) { return sendfile(to, from, offset, size); }

REPLACEMENT ssize_t copy_file_range(int from, off64_t *start, int to, off64_t *place, size_t size, unsigned flags) {
    if (!system_calls_is_tracked(to)) return syscall(SYS_copy_file_range, from, start, to, place, size, flags);
    return copied(to, place, from, start, size);
}

static int resized(int file, off64_t size) {
    if (!system_calls_is_tracked(file)) return (int)syscall(SYS_ftruncate, file, size);
    system_calls_lock();
    int result = -1;
    if (system_calls_fails(system_calls_resize, size > 0) <= 0) {
        result = (int)syscall(SYS_ftruncate, file, size);
        if (result == 0) system_calls_note(system_calls_resize, system_calls_inode(file), 0, 0, size, NULL, NULL);
    }
    system_calls_unlock();
    return result;
}

REPLACEMENT int ftruncate64(int file, off64_t size) { return resized(file, size); }
REPLACEMENT int ftruncate(int file, off_t size) { return resized(file, size); }

REPLACEMENT int truncate64(const char *path, off64_t size) {
    if (!system_calls_is_inside(path)) return (int)syscall(SYS_truncate, path, size);
    system_calls_lock();
    int result = -1;
    if (system_calls_fails(system_calls_resize, size > 0) <= 0) {
        result = (int)syscall(SYS_truncate, path, size);
        if (result == 0) {
            system_calls_note(system_calls_resize, system_calls_inode_at(path), 0, 0, size, NULL, NULL);
        }
    }
    system_calls_unlock();
    return result;
}
REPLACEMENT int truncate(const char *path, off_t size) { return truncate64(path, size); }

REPLACEMENT int fallocate64(int file, int mode, off64_t offset, off64_t size) {
    if (system_calls_is_tracked(file)) {
        system_calls_lock();
        system_calls_note(system_calls_unknown, 0, 0, 0, 0, "fallocate", NULL);
        system_calls_unlock();
    }
    return (int)syscall(SYS_fallocate, file, mode, offset, size);
}
REPLACEMENT int fallocate(int file, int mode, off_t offset, off_t size) { return fallocate64(file, mode, offset, size); }
REPLACEMENT int posix_fallocate64(int file, off64_t offset, off64_t size) { return fallocate64(file, 0, offset, size) ? errno : 0; }
REPLACEMENT int posix_fallocate(int file, off_t offset, off_t size) { return posix_fallocate64(file, offset, size); }

static int synchronized(int file, long call) {
    if (!system_calls_is_tracked(file)) return (int)syscall(call, file);
    system_calls_lock();
    int result = -1;
    if (system_calls_fails(system_calls_synchronize, 1) <= 0) {
        result = (int)syscall(call, file);
        if (result == 0) system_calls_note(system_calls_synchronize, system_calls_inode(file), 0, 0, 0, NULL, NULL);
    }
    system_calls_unlock();
    return result;
}

REPLACEMENT int fsync(int file) { return synchronized(file, SYS_fsync); }
REPLACEMENT int fdatasync(int file) { return synchronized(file, SYS_fdatasync); }

static void *mapped(void *address, size_t size, int protection, int flags, int file, off64_t offset) {
    if (!system_calls_is_tracked(file)) {
        return (void *)syscall(SYS_mmap, address, size, protection, flags, file, offset);
    }
    system_calls_lock();
    void *result = MAP_FAILED;
    if (system_calls_fails(system_calls_map, 1) <= 0) {
        result = (void *)syscall(SYS_mmap, address, size, protection, flags, file, offset);
        if (flags & MAP_SHARED && protection & PROT_WRITE) system_calls_note_mapping(file);
    }
    system_calls_unlock();
    return result;
}

REPLACEMENT void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
    return mapped(address, size, protection, flags, file, offset);
}
REPLACEMENT void *mmap64(void *address, size_t size, int protection, int flags, int file, off64_t offset) {
    return mapped(address, size, protection, flags, file, offset);
}

// MARK: Opening and closing

static int opened(int folder, const char *path, int flags, mode_t mode) {
    char place[SYSTEM_CALLS_PATH];
    path = system_calls_resolved(folder, path, place, &folder);
    if (!system_calls_is_inside(path)) return (int)syscall(SYS_openat, folder, path, flags, mode);
    system_calls_lock();
    struct stat before;
    int isNew = flags & O_CREAT && syscall(SYS_newfstatat, AT_FDCWD, path, &before, AT_SYMLINK_NOFOLLOW) != 0;
    int result = -1;
    if (system_calls_fails(system_calls_open, isNew) <= 0) {
        result = (int)syscall(SYS_openat, folder, path, flags, mode);
        if (result >= 0) {
            system_calls_track(result, 1);
            if (isNew) system_calls_note_entry(system_calls_create, path, system_calls_inode(result), NULL);
            else if (flags & O_TRUNC) {
                system_calls_note(system_calls_resize, system_calls_inode(result), 0, 0, 0, NULL, NULL);
            }
        }
    }
    int code = errno;
    system_calls_unlock();
    errno = code;
    return result;
}

#define MODE_OF(flags)                       \
    mode_t mode = 0;                         \
    if ((flags) & (O_CREAT | O_TMPFILE)) {   \
        va_list rest;                        \
        va_start(rest, flags);               \
        mode = va_arg(rest, mode_t);         \
        va_end(rest);                        \
    }

REPLACEMENT int open(const char *path, int flags, ...) {
    MODE_OF(flags)
    return opened(AT_FDCWD, path, flags, mode);
}
REPLACEMENT int open64(const char *path, int flags, ...) {
    MODE_OF(flags)
    return opened(AT_FDCWD, path, flags, mode);
}
REPLACEMENT int openat(int folder, const char *path, int flags, ...) {
    MODE_OF(flags)
    return opened(folder, path, flags, mode);
}
REPLACEMENT int openat64(int folder, const char *path, int flags, ...) {
    MODE_OF(flags)
    return opened(folder, path, flags, mode);
}
REPLACEMENT int __open_2(const char *path, int flags) { return opened(AT_FDCWD, path, flags, 0); }
REPLACEMENT int __open64_2(const char *path, int flags) { return opened(AT_FDCWD, path, flags, 0); }
REPLACEMENT int creat(const char *path, mode_t mode) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

REPLACEMENT int mkostemps(char *path, int suffix, int flags) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    size_t length = strlen(path);
    for (int attempt = 0; attempt < 1000; attempt++) {
        unsigned char bytes[6];
        if (syscall(SYS_getrandom, bytes, sizeof bytes, 0) != sizeof bytes) return -1;
        for (size_t place = 0; place < 6; place++) path[length - (size_t)suffix - 6 + place] = letters[bytes[place] % 62];
        int result = opened(AT_FDCWD, path, (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL, 0600);
        if (result >= 0 || errno != EEXIST) return result;
    }
    errno = EEXIST;
    return -1;
}
REPLACEMENT int mkostemp(char *path, int flags) { return mkostemps(path, 0, flags); }
REPLACEMENT int mkstemp(char *path) { return mkostemps(path, 0, 0); }
REPLACEMENT int mkstemp64(char *path) { return mkostemps(path, 0, 0); }
REPLACEMENT int mkstemps(char *path, int suffix) { return mkostemps(path, suffix, 0); }

REPLACEMENT int close(int file) {
    if (system_calls_is_tracked(file)) {
        system_calls_lock();
        system_calls_track(file, 0);
        system_calls_unlock();
    }
    return (int)syscall(SYS_close, file);
}

// MARK: Entries of folders

static int renamed(int from, const char *old, int to, const char *new, unsigned flags) {
    char places[2][SYSTEM_CALLS_PATH];
    old = system_calls_resolved(from, old, places[0], &from);
    new = system_calls_resolved(to, new, places[1], &to);
    if (!system_calls_is_inside(old) && !system_calls_is_inside(new)) {
        return (int)syscall(SYS_renameat2, from, old, to, new, flags);
    }
    system_calls_lock();
    int result = -1;
    if (system_calls_fails(system_calls_rename, 0) <= 0) {
        result = (int)syscall(SYS_renameat2, from, old, to, new, flags);
        if (result == 0) system_calls_note_entry(system_calls_rename, old, system_calls_inode_at(new), new);
    }
    int code = errno;
    system_calls_unlock();
    errno = code;
    return result;
}

REPLACEMENT int rename(const char *old, const char *new) { return renamed(AT_FDCWD, old, AT_FDCWD, new, 0); }
REPLACEMENT int renameat(int from, const char *old, int to, const char *new) { return renamed(from, old, to, new, 0); }
REPLACEMENT int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    return renamed(from, old, to, new, flags);
}

REPLACEMENT int unlinkat(int folder, const char *path, int flags) {
    char place[SYSTEM_CALLS_PATH];
    path = system_calls_resolved(folder, path, place, &folder);
    if (!system_calls_is_inside(path)) return (int)syscall(SYS_unlinkat, folder, path, flags);
    int kind = flags & AT_REMOVEDIR ? system_calls_remove_folder : system_calls_unlink;
    system_calls_lock();
    int result = -1;
    if (system_calls_fails(kind, 0) <= 0) {
        uint64_t inode = system_calls_inode_at(path);
        result = (int)syscall(SYS_unlinkat, folder, path, flags);
        if (result == 0) system_calls_note_entry(kind, path, inode, NULL);
    }
    int code = errno;
    system_calls_unlock();
    errno = code;
    return result;
}

REPLACEMENT int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
REPLACEMENT int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
REPLACEMENT int remove(const char *path) {
    if (unlinkat(AT_FDCWD, path, 0) == 0) return 0;
    return errno == EISDIR || errno == EPERM ? rmdir(path) : -1;
}

REPLACEMENT int mkdir(const char *path, mode_t mode) {
    if (!system_calls_is_inside(path)) return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    system_calls_lock();
    int result = -1;
    if (system_calls_fails(system_calls_make_folder, 1) <= 0) {
        result = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
        if (result == 0) system_calls_note_entry(system_calls_make_folder, path, system_calls_inode_at(path), NULL);
    }
    int code = errno;
    system_calls_unlock();
    errno = code;
    return result;
}

REPLACEMENT int linkat(int from, const char *old, int to, const char *new, int flags) {
    char places[2][SYSTEM_CALLS_PATH];
    old = system_calls_resolved(from, old, places[0], &from);
    new = system_calls_resolved(to, new, places[1], &to);
    if (!system_calls_is_inside(new)) return (int)syscall(SYS_linkat, from, old, to, new, flags);
    system_calls_lock();
    int result = -1;
    if (system_calls_fails(system_calls_link, 1) <= 0) {
        result = (int)syscall(SYS_linkat, from, old, to, new, flags);
        if (result == 0) system_calls_note_entry(system_calls_link, new, system_calls_inode_at(new), NULL);
    }
    int code = errno;
    system_calls_unlock();
    errno = code;
    return result;
}
REPLACEMENT int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }

#endif
