#define _GNU_SOURCE
#include "SystemCalls.h"

#ifdef __linux__

#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define TRACKED_COUNT 65536

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char folderPath[SYSTEM_CALLS_PATH];
static size_t folderLength;
static unsigned char tracked[TRACKED_COUNT];
static int isActive;
static int logFile = -1;
static int64_t count;
static int64_t failingCall;
static enum system_calls_failure failureKind;
static int32_t failedKind;
static unsigned char kinds[TRACKED_COUNT];

void system_calls_lock(void) { pthread_mutex_lock(&mutex); }
void system_calls_unlock(void) { pthread_mutex_unlock(&mutex); }

static void begin(const char *folder) {
    folderLength = strlen(folder);
    memcpy(folderPath, folder, folderLength + 1);
    isActive = 1;
}

void system_calls_record_to(const char *folder, const char *log) {
    system_calls_lock();
    logFile = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    begin(folder);
    system_calls_unlock();
}

void system_calls_fail_at(const char *folder, int64_t number, enum system_calls_failure failure) {
    system_calls_lock();
    failingCall = number;
    failureKind = failure;
    begin(folder);
    system_calls_unlock();
}

int64_t system_calls_count(void) { return count; }
int32_t system_calls_kind_of(int64_t number) {
    return number > 0 && number <= count && number < TRACKED_COUNT ? kinds[number] : 0;
}
int32_t system_calls_failed_kind(void) { return failedKind; }

int64_t system_calls_open_count(void) {
    int64_t open = 0;
    system_calls_lock();
    for (int file = 0; file < TRACKED_COUNT; file++) open += tracked[file];
    system_calls_unlock();
    return open;
}

int system_calls_is_tracked(int file) { return isActive && file >= 0 && file < TRACKED_COUNT && tracked[file]; }

void system_calls_track(int file, int isTracked) {
    if (file >= 0 && file < TRACKED_COUNT) tracked[file] = (unsigned char)isTracked;
}

int system_calls_is_inside(const char *path) {
    if (!isActive || strncmp(path, folderPath, folderLength) != 0) return 0;
    return path[folderLength] == '/' || path[folderLength] == 0;
}

const char *system_calls_resolved(int folder, const char *path, char *place, int *resolved) {
    if (!isActive || folder == AT_FDCWD || path[0] == '/') return path;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    long length = syscall(SYS_readlinkat, AT_FDCWD, link, place, SYSTEM_CALLS_PATH - 1);
    if (length <= 0 || (size_t)length + strlen(path) + 2 > SYSTEM_CALLS_PATH) return path;
    place[length] = '/';
    strcpy(place + length + 1, path);
    *resolved = AT_FDCWD;
    return place;
}

// MARK: Failing

// The error number of a kind of call; 0 if it cannot fail like that.
static int code(int kind, int takesSpace) {
    int isInterrupted = kind == system_calls_write || kind == system_calls_resize || kind == system_calls_synchronize
        || kind == system_calls_open;
    switch (failureKind) {
        case system_calls_full:
            if (kind == system_calls_map) return ENOMEM;
            if (kind == system_calls_open) return takesSpace ? ENOSPC : EMFILE;
            return ENOSPC;
        case system_calls_error: return kind == system_calls_map ? ENOMEM : EIO;
        case system_calls_interrupt: return isInterrupted ? EINTR : 0;
        case system_calls_short: return kind == system_calls_write ? SYSTEM_CALLS_HALF : 0;
    }
    return 0;
}

int system_calls_fails(int kind, int takesSpace) {
    count += 1;
    if (count < TRACKED_COUNT) kinds[count] = (unsigned char)kind;
    if (failingCall == 0 || count != failingCall) return 0;
    int result = code(kind, takesSpace);
    if (result != 0) failedKind = kind;
    if (result > 0) errno = result;
    return result;
}

// MARK: The log

uint64_t system_calls_inode(int file) {
    struct stat status;
    return syscall(SYS_newfstatat, file, "", &status, AT_EMPTY_PATH) == 0 ? status.st_ino : 0;
}

uint64_t system_calls_inode_at(const char *path) {
    struct stat status;
    return syscall(SYS_newfstatat, AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status.st_ino : 0;
}

static void append(struct system_calls_record record, const char *name, const void *data) {
    if (logFile < 0) return;
    struct iovec parts[3] = {
        {&record, sizeof record}, {(void *)name, record.name_size}, {(void *)data, record.data_size}};
    syscall(SYS_writev, logFile, parts, 3);
}

void system_calls_note(
    int kind, uint64_t file, uint64_t folder, uint64_t otherFolder, int64_t offset, const char *name,
    const char *otherName) {
    char names[1024];
    size_t size = 0;
    if (name) size = (size_t)snprintf(names, sizeof names / 2, "%s", name);
    if (otherName) size += 1 + (size_t)snprintf(names + size + 1, sizeof names / 2 - 1, "%s", otherName);
    struct system_calls_record record = {(uint32_t)kind, (uint32_t)size, file, folder, otherFolder, offset, 0};
    append(record, names, NULL);
}

void system_calls_note_write(int file, const void *bytes, size_t size, int64_t offset) {
    struct system_calls_record record = {system_calls_write, 0, system_calls_inode(file), 0, 0, offset, size};
    append(record, NULL, bytes);
}

// The folder of a path, and the name in it.
static uint64_t parent(const char *path, const char **name) {
    char folder[SYSTEM_CALLS_PATH];
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    size_t end = length;
    while (end > 0 && path[end - 1] != '/') end--;
    *name = path + end;
    memcpy(folder, path, end);
    folder[end > 1 ? end - 1 : end] = 0;
    struct stat status;
    return syscall(SYS_newfstatat, AT_FDCWD, folder, &status, 0) == 0 ? status.st_ino : 0;
}

void system_calls_note_entry(int kind, const char *path, uint64_t file, const char *otherPath) {
    const char *name, *otherName = NULL;
    uint64_t folder = parent(path, &name);
    uint64_t otherFolder = otherPath ? parent(otherPath, &otherName) : 0;
    system_calls_note(kind, file, folder, otherFolder, 0, name, otherName);
}

void system_calls_note_mapping(int file) {
    char link[64], path[SYSTEM_CALLS_PATH];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    if (length > 4 && memcmp(path + length - 4, "-shm", 4) == 0) return;
    system_calls_note(system_calls_unknown, 0, 0, 0, 0, "mmap", NULL);
}

void system_calls_append_mark(int64_t number) {
    system_calls_lock();
    system_calls_note(system_calls_mark, 0, 0, 0, number, NULL, NULL);
    system_calls_unlock();
}

#else

void system_calls_record_to(const char *folder, const char *log) {}
void system_calls_fail_at(const char *folder, int64_t number, enum system_calls_failure failure) {}
void system_calls_append_mark(int64_t number) {}
int64_t system_calls_count(void) { return 0; }
int32_t system_calls_kind_of(int64_t number) { return 0; }
int32_t system_calls_failed_kind(void) { return 0; }
int64_t system_calls_open_count(void) { return 0; }

#endif
