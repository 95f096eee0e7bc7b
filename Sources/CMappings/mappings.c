// SPDX-License-Identifier: Apache-2.0

// Nothing in the handler allocates, locks or waits: it reads a table of atomic fields and makes one system call.
#define _GNU_SOURCE
#include "mappings.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// `revision` is odd while the other fields change, so that the handler never believes half of a change.
struct realm_rest_mapping {
    _Atomic uint64_t revision;
    _Atomic uintptr_t start;
    _Atomic uintptr_t end;
    _Atomic(uint8_t *) lost;
    struct realm_rest_mapping *next_free;
};

enum { chunk_length = 256 };

struct chunk {
    struct realm_rest_mapping entries[chunk_length];
    _Atomic(struct chunk *) next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct chunk *) chunks;
static struct realm_rest_mapping *free_entries;
static struct sigaction previous;
static bool is_installed;
static uintptr_t page_size;

static void set(struct realm_rest_mapping *entry, uintptr_t start, uintptr_t end, uint8_t *lost) {
    atomic_fetch_add(&entry->revision, 1);
    atomic_store(&entry->start, start);
    atomic_store(&entry->end, end);
    atomic_store(&entry->lost, lost);
    atomic_fetch_add(&entry->revision, 1);
}

// Whether the address is in the range. An entry that changes during the call is not the one of this address: a range is added
// before its first reader and removed after its last one.
static bool covers(struct realm_rest_mapping *entry, uintptr_t address, uintptr_t *end, uint8_t **lost) {
    const uint64_t revision = atomic_load(&entry->revision);
    const uintptr_t start = atomic_load(&entry->start);
    *end = atomic_load(&entry->end);
    *lost = atomic_load(&entry->lost);
    const bool is_whole = !(revision & 1) && revision == atomic_load(&entry->revision);
    return is_whole && *lost != NULL && address >= start && address < *end;
}

// The pages behind a missing page are missing too, so all of them are replaced at once.
static bool replace(uintptr_t address) {
    for (struct chunk *chunk = atomic_load(&chunks); chunk; chunk = atomic_load(&chunk->next)) {
        for (int index = 0; index < chunk_length; index++) {
            uintptr_t end;
            uint8_t *lost;
            if (!covers(&chunk->entries[index], address, &end, &lost)) continue;
            const uintptr_t page = address & ~(page_size - 1);
            // Set first: a reader of the zeros must find it.
            __atomic_store_n(lost, 1, __ATOMIC_SEQ_CST);
            void *zeros = mmap(
                (void *)page, end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
            return zeros == (void *)page;
        }
    }
    return false;
}

static void handle(int signal, siginfo_t *info, void *context) {
    const int code = errno;
    const bool is_fault = info->si_code > 0 && info->si_code != BUS_ADRALN;
    const bool is_replaced = is_fault && replace((uintptr_t)info->si_addr);
    errno = code;
    if (is_replaced) return;
    if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(signal, info, context);
    } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
        previous.sa_handler(signal);
    } else {
        // Ends the process as without a handler: a fault happens again, a signal that was sent is sent again.
        struct sigaction plain = {.sa_handler = SIG_DFL};
        sigaction(signal, &plain, NULL);
        if (!is_fault) raise(signal);
    }
}

static bool install(void) {
    if (is_installed) return true;
    page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigemptyset(&action.sa_mask);
    is_installed = sigaction(SIGBUS, &action, &previous) == 0;
    return is_installed;
}

static bool add_chunk(void) {
    struct chunk *chunk = calloc(1, sizeof(struct chunk));
    if (!chunk) return false;
    for (int index = 0; index < chunk_length; index++) {
        chunk->entries[index].next_free = free_entries;
        free_entries = &chunk->entries[index];
    }
    atomic_store(&chunk->next, atomic_load(&chunks));
    atomic_store(&chunks, chunk);
    return true;
}

realm_rest_mapping *realm_rest_mapping_add(const void *start, size_t byte_count, uint8_t *lost) {
    pthread_mutex_lock(&lock);
    struct realm_rest_mapping *entry = NULL;
    if (install() && (free_entries || add_chunk())) {
        entry = free_entries;
        free_entries = entry->next_free;
        set(entry, (uintptr_t)start, (uintptr_t)start + byte_count, lost);
    }
    pthread_mutex_unlock(&lock);
    return entry;
}

void realm_rest_mapping_resize(realm_rest_mapping *mapping, size_t byte_count) {
    // One field, so that readers of the front never meet a change that is half done.
    atomic_store(&mapping->end, atomic_load(&mapping->start) + byte_count);
}

void realm_rest_mapping_remove(realm_rest_mapping *mapping) {
    pthread_mutex_lock(&lock);
    set(mapping, 0, 0, NULL);
    mapping->next_free = free_entries;
    free_entries = mapping;
    pthread_mutex_unlock(&lock);
}
