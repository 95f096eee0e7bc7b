// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "slice.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As the system lays it out; the C library has no type for it. */
struct attributes {
  uint32_t size;
  uint32_t policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime;
  uint64_t deadline;
  uint64_t period;
};

int
realm_rest_set_slice (uint64_t nanoseconds)
{
#if defined (SYS_sched_setattr) && defined (SYS_sched_getattr)
  struct attributes attributes;
  memset (&attributes, 0, sizeof attributes);
  if (syscall (SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0)
    return -1;
  if (attributes.policy != 0)
    {
      errno = EINVAL;
      return -1;
    }
  attributes.size = sizeof attributes;
  attributes.flags = 0;
  attributes.runtime = nanoseconds;
  return (int) syscall (SYS_sched_setattr, 0, &attributes, 0);
#else
  (void) nanoseconds;
  errno = ENOSYS;
  return -1;
#endif
}
