/* Clocks, in nanoseconds. */
#ifndef FLAMEWATCH_CLOCKS_H
#define FLAMEWATCH_CLOCKS_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define NS_PER_S 1000000000LL

/* Return -1 if the clock does not exist: a thread's clock ends with the thread. */
static inline int64_t clock_ns(clockid_t clock) {
  struct timespec t;
  return clock_gettime(clock, &t) ? -1 : t.tv_sec * NS_PER_S + t.tv_nsec;
}

static inline int64_t monotonic_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

/* CPU time of the calling thread: its cost for the host, regardless of the load on the machine. */
static inline int64_t own_cpu_ns(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

/* CPU clock of any thread of this process, in the kernel's encoding (glibc's
   pthread_getcpuclockid does the same, but needs a live pthread_t, which the sampler does not
   have). */
static inline clockid_t thread_cpu_clock(pid_t tid) { return (clockid_t)((~(unsigned)tid << 3) | 6); }

static inline struct timespec timespec_of(int64_t ns) { return (struct timespec){ns / NS_PER_S, ns % NS_PER_S}; }

#endif
