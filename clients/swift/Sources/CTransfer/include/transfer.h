// One transfer over HTTP at a time, by the libcurl that Foundation brings along on Linux.
//
// URLSession of Foundation on Linux ends the process when a connection is cut within the head of an answer. The library below it does not,
// so it is called directly. It is found when the program runs, because its headers are not installed where Swift is.
#ifndef TRANSFER_H
#define TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What a transfer asks for, and who hears of the answer. A function that returns false ends the transfer.
struct transfer {
    const char *method;
    const char *url;
    /// Fields as `Name: value`.
    const char *const *headers;
    size_t header_count;
    /// NULL for none.
    const uint8_t *body;
    size_t body_count;
    void *context;
    /// A line of the head with its end.
    bool (*head)(void *context, const char *line, size_t count);
    bool (*piece)(void *context, const uint8_t *bytes, size_t count);
    /// Asked at least once a second.
    bool (*goes_on)(void *context);
};

/// Whether the library is there.
bool transfer_is_available(void);

/// A handle keeps its connection for the next transfer; NULL when there is none.
void *transfer_open(void);
void transfer_close(void *handle);

/// Transfers, and returns NULL, or what went wrong. It blocks the thread.
const char *transfer_perform(void *handle, const struct transfer *transfer);

#endif
