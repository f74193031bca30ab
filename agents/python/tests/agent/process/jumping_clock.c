/* Preloaded library: every reading of the realtime clock is a day early or late, alternately. */
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define DAY 86400

int clock_gettime(clockid_t clock, struct timespec *now) {
  static atomic_uint looks;
  long failed = syscall(SYS_clock_gettime, clock, now);
  if (!failed && clock == CLOCK_REALTIME)
    now->tv_sec += looks++ & 1 ? -DAY : DAY;
  return (int)failed;
}
