#ifndef REALM_REST_CMAPPINGS_H
#define REALM_REST_CMAPPINGS_H
/*
 * Memory that shows a file stays readable when the file gets shorter.
 *
 * Reading a mapped page that the file no longer has raises SIGBUS, which ends a process. For ranges that are known here
 * the signal is handled: zeros replace the missing pages, a flag of the range is set, and the reader continues. A reader checks
 * the flag before it uses the bytes. Any other SIGBUS goes to the previous handler.
 */
#include <stddef.h>
#include <stdint.h>

typedef struct realm_rest_mapping realm_rest_mapping;

/*
 * Guards a range of whole pages that is mapped for reading; `lost` is set to 1 when a page of it is gone, and has to stay
 * valid until the range is removed. NULL when there is no memory left, or no handler could be installed.
 */
realm_rest_mapping *realm_rest_mapping_add(const void *start, size_t byte_count, uint8_t *lost);

/* Changes the length of a range; to be called before more of it is mapped. */
void realm_rest_mapping_resize(realm_rest_mapping *mapping, size_t byte_count);

/* To be called before the range is unmapped. */
void realm_rest_mapping_remove(realm_rest_mapping *mapping);
#endif
