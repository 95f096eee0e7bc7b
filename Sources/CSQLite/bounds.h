// SPDX-License-Identifier: Apache-2.0

/* The parts that the files of this library share. */
#ifndef REALM_REST_SQLITE_BOUNDS_H
#define REALM_REST_SQLITE_BOUNDS_H

#include <stdint.h>

/* Registers the allocator and the files, once for a process. */
int realm_rest_sqlite_set_up (void);

/* Whether the thread has to stop before it works on a value of this length. */
int realm_rest_sqlite_is_over (uint64_t length);

#endif
