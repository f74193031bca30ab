/* List of the interpreter's threads, maintained from tick to tick. */
#ifndef FLAMEWATCH_THREADS_H
#define FLAMEWATCH_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "capture/stacks.h"
#include "sampling/timers.h"

#define THREADS_MAX 4096

typedef struct Thread {
  uintptr_t ts;
  pid_t id;      /* native */
  int64_t cpu;   /* its CPU clock at the last visit; -1 before the first */
  int64_t moved; /* time at which its CPU clock was last seen to advance */
  int64_t since; /* monotonic time up to which its wall time is accounted for */
  Stack *last;   /* its stack at the last visit */
  Timer *timer;
  bool has_no_timer; /* no timer could be created; counted as unarmed */
  bool newborn;      /* it began after the capture */
} Thread;

typedef struct Threads {
  Arena arena;
  int n;
  int64_t checked_ns; /* time until which the list is known to be complete */
  int64_t listed_ns;  /* time at which all of it was last read */
  bool unsettled;     /* a thread is new, or has no native id yet */
  bool gil_awaited;   /* WALL: the last tick found threads that wait for the GIL */
  Thread *now, *spare;
  uint16_t *index;
  char *states;
  size_t stride;
} Threads;

bool threads_open(Threads *threads, int64_t now);
void threads_close(Threads *threads);

/* Return the memory that the list has used, in bytes. */
size_t threads_bytes(const Threads *threads);

/* Update the list, and release timers of threads that ended. Cheap if there is no new thread;
   the end of a thread is noticed within 50 ms (its clock fails at once), or now if `fully`.
   Return false if the list could not be read this time: the old one stays. */
bool threads_update(Threads *threads, bool fully);

#endif
