/* Scheduler request for a thread that runs for microseconds and has to run soon after it wakes.

   A sampler that waits until other threads give up the core sees them only where they do so,
   mostly in system calls. Linux 6.12 and later let a thread request a short slice, for which it
   may run at once when it wakes. Older kernels ignore the request. */
#ifndef FLAMEWATCH_PROMPTNESS_H
#define FLAMEWATCH_PROMPTNESS_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHORTEST_SLICE_NS 100000

static inline void ask_for_short_slices(void) {
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } wish = {.size = sizeof wish, .nice = getpriority(PRIO_PROCESS, 0), .runtime = SHORTEST_SLICE_NS};
  syscall(SYS_sched_setattr, 0, &wish, 0U);
}

#endif
