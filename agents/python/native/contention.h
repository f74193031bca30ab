/* CONTENTION: time that threads wait for locks that others hold, by stack. All functions need
   the GIL. */
#ifndef FLAMEWATCH_CONTENTION_H
#define FLAMEWATCH_CONTENTION_H

#include "capture.h"

/* Start a capture. Return NULL, or the reason why that is not possible. */
const char *contention_start(Capture *capture, const Options *options);

/* End the capture. Waits that have not ended count until now. */
void contention_stop(void);

/* Discard the capture in a forked child. */
void contention_forget(void);

/* Count a lock that did not look free and is tried without waiting. */
void count_try(void);

/* A wait for a lock. wait_begins() takes the thread's stack, while the thread has nothing else
   to do. */
typedef struct Waiting {
  int index; /* negative: this wait is not sampled */
  uint32_t run;
} Waiting;

Waiting wait_begins(void);
void wait_ends(Waiting waiting);

#endif
