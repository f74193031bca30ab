/* The interpreter's threads, kept from tick to tick. */
#ifndef FLAMEWATCH_THREADS_H
#define FLAMEWATCH_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "arena.h"
#include "stacks.h"
#include "timers.h"

#define THREADS_MAX 4096

typedef struct Thread {
  uintptr_t ts;
  pid_t id;      /* native */
  int64_t cpu;   /* its CPU clock at the last visit; -1 before the first */
  int64_t moved; /* when its CPU clock was last seen to move */
  int64_t since; /* monotonic time up to which its wall time is accounted for */
  Stack *last;   /* where it was at the last visit */
  Timer *timer;
  bool refused; /* it gets no timer; counted */
  bool newborn; /* it was not there when the capture began */
} Thread;

typedef struct Threads {
  Arena arena;
  int n;
  int64_t checked_ns; /* until when the list is known to have all threads */
  int64_t listed_ns;  /* when all of it was last read */
  bool unsettled;     /* somebody is new, or has no native id yet */
  Thread *now, *spare;
  uint16_t *index;
  char *states;
  size_t stride;
} Threads;

bool threads_open(Threads *threads, int64_t now);
void threads_close(Threads *threads);

/* How much memory the list has used. */
size_t threads_bytes(const Threads *threads);

/* Brings the list up to date. Threads that are gone give their timers back. Cheap when nobody came;
   who went is noticed within 50 ms (their clocks fail at once), or now if `fully`. False if the
   list could not be read this time: the old one stays. */
bool threads_update(Threads *threads, bool fully);

#endif
