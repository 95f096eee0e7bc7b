// SPDX-License-Identifier: Apache-2.0

/// How long a thread may use a processor before another one of equal rights gets it. It is in C because Swift's view of the C
/// library has no `sched_setattr`.
#ifndef REALM_REST_SLICE_H
#define REALM_REST_SLICE_H

#include <stdint.h>

/// Sets the slice of the calling thread in nanoseconds, if its policy is the usual one; its share of the processors stays as it is. A thread
/// with a shorter slice that wakes up gets the processor of one with a longer slice at once. 0, or -1 with `errno`; a system that
/// knows no slices ignores it.
int realm_rest_set_slice (uint64_t nanoseconds);

#endif
