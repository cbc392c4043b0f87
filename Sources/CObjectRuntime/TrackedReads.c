#define _GNU_SOURCE

#include "TrackedReads.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#if defined(__linux__)
#include <link.h>

/// What is looked for among the program's modules, and the calling thread's variables of it.
typedef struct {
    uintptr_t address;
    void *const *words;
    size_t count;
} module_words;

static int find_words(struct dl_phdr_info *info, size_t size, void *context) {
    module_words *found = context;
    if (size < offsetof(struct dl_phdr_info, dlpi_tls_data) + sizeof(info->dlpi_tls_data)) { return 1; }
    const ElfW(Phdr) *variables = NULL;
    _Bool contains = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_TLS) { variables = header; }
        if (header->p_type == PT_LOAD && found->address >= start && found->address - start < header->p_memsz) {
            contains = 1;
        }
    }
    if (!contains) { return 0; }
    if (variables != NULL && info->dlpi_tls_data != NULL && (uintptr_t)info->dlpi_tls_data % sizeof(void *) == 0) {
        found->words = info->dlpi_tls_data;
        found->count = variables->p_memsz / sizeof(void *);
    }
    return 1;
}

static module_words words_of(const void *address) {
    module_words found = {(uintptr_t)address, NULL, 0};
    dl_iterate_phdr(find_words, &found);
    return found;
}
#else
typedef struct {
    void *const *words;
    size_t count;
} module_words;

static module_words words_of(const void *address) {
    (void)address;
    return (module_words){NULL, 0};
}
#endif

static _Thread_local void *const volatile *tracking_word = NULL;
static _Atomic(const void *) tracking_module = NULL;
static _Atomic(size_t) tracking_index = 0;

int ocd_reads_are_tracked(void) {
    void *const volatile *word = tracking_word;
    return word == NULL ? -1 : *word != NULL;
}

_Bool ocd_find_tracking_word(void) {
    const void *module = atomic_load_explicit(&tracking_module, memory_order_acquire);
    if (module == NULL) { return 0; }
    size_t index = atomic_load_explicit(&tracking_index, memory_order_relaxed);
    module_words found = words_of(module);
    if (index >= found.count) { return 0; }
    tracking_word = found.words + index;
    return 1;
}

size_t ocd_copy_thread_words(const void *address, void **words, size_t capacity) {
    module_words found = words_of(address);
    if (found.count > capacity) { return 0; }
    if (found.count > 0) { memcpy(words, found.words, found.count * sizeof(void *)); }
    return found.count;
}

void ocd_set_tracking_word(const void *address, size_t index) {
    atomic_store_explicit(&tracking_index, index, memory_order_relaxed);
    atomic_store_explicit(&tracking_module, address, memory_order_release);
}
