#ifndef REALM_REST_CXLSXWRITER_SHIM_H
#define REALM_REST_CXLSXWRITER_SHIM_H
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <xlsxwriter.h>

/* The callbacks of a stream. It is cookie_io_functions_t of the C library, which only shows it to programs that ask for all of its extensions. */
typedef struct {
    ssize_t (*read)(void *cookie, char *bytes, size_t count);
    ssize_t (*write)(void *cookie, const char *bytes, size_t count);
    int (*seek)(void *cookie, int64_t *offset, int origin);
    int (*close)(void *cookie);
} realm_stream_calls;

/* Opens a stream that calls functions for what is read and written. */
FILE *realm_open_stream(void *cookie, const char *mode, realm_stream_calls calls) __asm__("fopencookie");
#endif
