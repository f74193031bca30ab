/* Wait for a change of a number, without a lock that a fork could leave taken. */
#ifndef FLAMEWATCH_FUTEX_H
#define FLAMEWATCH_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clocks.h"

/* Return when the number differs from `value`, at the monotonic time, or earlier (a signal). */
static inline void futex_wait_until(atomic_int *number, int value, int64_t deadline_ns) {
  struct timespec deadline = timespec_of(deadline_ns);
  syscall(SYS_futex, number, FUTEX_WAIT_BITSET_PRIVATE, value, &deadline, NULL, FUTEX_BITSET_MATCH_ANY);
}

static inline void futex_wake(atomic_int *number) {
  syscall(SYS_futex, number, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

#endif
