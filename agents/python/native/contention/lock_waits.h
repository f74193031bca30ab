/* Waits for locks during a capture: a sample of them, with their stacks. All functions need the
   GIL. */
#ifndef FLAMEWATCH_LOCK_WAITS_H
#define FLAMEWATCH_LOCK_WAITS_H

#include "capture/capture.h"

/* Open the capture; waits that begin are recorded in it. Return false without memory. */
bool lock_waits_open(Capture *capture, const Options *options);

/* Count the waits that have not ended until now. */
void lock_waits_end(void);

/* Record no more waits, and release the memory. */
void lock_waits_close(void);

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
