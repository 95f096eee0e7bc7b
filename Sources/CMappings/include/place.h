// SPDX-License-Identifier: Apache-2.0

/// The facts that the system reports about a file, without its times. It is in C because Swift's view of the C
/// library has no `statx`.
#ifndef REALM_REST_PLACE_H
#define REALM_REST_PLACE_H

#include <stdint.h>

struct realm_rest_place {
  uint64_t device;
  uint64_t inode;
  uint64_t byte_count;
  uint32_t link_count;
};

/// Of the open file `descriptor`, or of the one that `path` leads to unless it is NULL; 0, or -1 with `errno`.
int realm_rest_place_of (int descriptor, const char *path, struct realm_rest_place *place);

#endif
