// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

int
realm_rest_place_of (int descriptor, const char *path, struct realm_rest_place *place)
{
  struct statx info;
  unsigned int questions = STATX_TYPE | STATX_INO | STATX_SIZE | STATX_NLINK;
  int failed = path ? statx (AT_FDCWD, path, 0, questions, &info)
                    : statx (descriptor, "", AT_EMPTY_PATH, questions, &info);
  if (failed)
    return -1;
  place->device = makedev (info.stx_dev_major, info.stx_dev_minor);
  place->inode = info.stx_ino;
  place->byte_count = info.stx_size;
  place->link_count = info.stx_nlink;
  return 0;
}
