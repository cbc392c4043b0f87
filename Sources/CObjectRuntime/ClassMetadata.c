#define _GNU_SOURCE
#include "ObjectAllocation.h"

#include <stdint.h>
#include <unistd.h>

#if defined(__ELF__)
#include <link.h>

typedef struct {
    uintptr_t place;
    bool is_found;
    bool is_writable;
} page_search;

static int find_page(struct dl_phdr_info *image, size_t size, void *context) {
    page_search *search = context;
    uintptr_t page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    bool is_here = false, is_writable = false;
    for (size_t index = 0; index < image->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &image->dlpi_phdr[index];
        uintptr_t start = image->dlpi_addr + part->p_vaddr, end = start + part->p_memsz;
        if (part->p_type == PT_LOAD && search->place >= start && search->place < end) {
            is_here = true;
            is_writable = (part->p_flags & PF_W) && !(part->p_flags & PF_X);
        }
    }
    if (!is_here) return 0;
    for (size_t index = 0; index < image->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &image->dlpi_phdr[index];
        if (part->p_type != PT_GNU_RELRO) continue;
        // What the loader has made read-only, in whole pages.
        uintptr_t start = (image->dlpi_addr + part->p_vaddr) & ~(page_size - 1);
        uintptr_t end = (image->dlpi_addr + part->p_vaddr + part->p_memsz) & ~(page_size - 1);
        if (search->place >= start && search->place < end) is_writable = false;
    }
    search->is_found = true;
    search->is_writable = is_writable;
    return 1;
}

bool ocd_is_writable(const void *place) {
    page_search search = {(uintptr_t)place, false, false};
    dl_iterate_phdr(find_page, &search);
    // What is in no image, the runtime has allocated.
    return !search.is_found || search.is_writable;
}

#else

bool ocd_is_writable(const void *place) { return false; }

#endif

bool ocd_replace_word(void **place, void *word) {
    if (__atomic_load_n(place, __ATOMIC_RELAXED) == word) return true;
    if (!ocd_is_writable(place)) return false;
    __atomic_store_n(place, word, __ATOMIC_RELEASE);
    return true;
}

// MARK: Beginning

// Swift's part; not there in programs that have this library without module CoreData.
extern void ocd_begin(void) __attribute__((weak));

__attribute__((constructor)) static void begin(void) {
    if (ocd_begin) ocd_begin();
}

// MARK: Methods that are called by their names

// The compiler calls a method of a final class by the name of the function that the class inherits. These definitions take
// the place of Foundation's where the program is linked, and go on to ours. They are weak, so that Foundation's win where it
// is part of the program itself; without module CoreData they are not there.
#if defined(__ELF__) && (defined(__x86_64__) || defined(__aarch64__))

#if defined(__x86_64__)
#define GO_TO(function) "jmp " function "@PLT\n"
#else
#define GO_TO(function) "b " function "\n"
#endif

#define IN_PLACE_OF(name, function) \
    __asm__(".text\n" \
            ".weak \"" name "\"\n" \
            ".type \"" name "\", %function\n" \
            ".p2align 4\n" \
            "\"" name "\":\n" GO_TO(function) \
            ".size \"" name "\", . - \"" name "\"\n")

// NSPredicate.copy(with:), the getter of NSPredicate.predicateFormat, NSPredicate.isEqual(_:)
IN_PLACE_OF("$s10Foundation11NSPredicateC4copy4withypAA6NSZoneVSg_tF", "ocd_predicate_copy");
IN_PLACE_OF("$s10Foundation11NSPredicateC15predicateFormatSSvg", "ocd_predicate_format");
IN_PLACE_OF("$s10Foundation11NSPredicateC7isEqualySbypSgF", "ocd_predicate_is_equal");

#endif
