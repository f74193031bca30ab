/* Clocks, in nanoseconds. */
#ifndef FLAMEWATCH_CLOCKS_H
#define FLAMEWATCH_CLOCKS_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define NS_PER_S 1000000000LL

/* -1 when the clock does not exist (any more): a thread's clock goes with the thread. */
static inline int64_t clock_ns(clockid_t clock) {
  struct timespec t;
  return clock_gettime(clock, &t) ? -1 : t.tv_sec * NS_PER_S + t.tv_nsec;
}

static inline int64_t monotonic_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

/* What the calling thread has used: what it costs the host, however many others want its core. */
static inline int64_t own_cpu_ns(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

/* The CPU clock of any thread of this process, by the kernel's encoding (glibc's
   pthread_getcpuclockid does the same, but wants a live pthread_t, which we don't have). */
static inline clockid_t thread_cpu_clock(pid_t tid) { return (clockid_t)((~(unsigned)tid << 3) | 6); }

static inline struct timespec timespec_of(int64_t ns) {
  return (struct timespec){ns / NS_PER_S, ns % NS_PER_S};
}

#endif
