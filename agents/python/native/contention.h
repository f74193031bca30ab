/* CONTENTION: how long threads waited for locks that others held, and where. All with the GIL. */
#ifndef FLAMEWATCH_CONTENTION_H
#define FLAMEWATCH_CONTENTION_H

#include "capture.h"

/* Begins a capture. Returns NULL, or why that is not possible. */
const char *contention_start(Capture *capture, const Options *options);

/* Ends it: waits that go on count until now. */
void contention_stop(void);

/* In the child after a fork. */
void contention_forget(void);

/* A lock that did not look free is tried without waiting. */
void count_try(void);

/* A thread is going to wait for a lock: its stack is taken now, while it has nothing to do. */
typedef struct Waiting {
  int place; /* negative: this wait is not counted */
  uint32_t run;
} Waiting;

Waiting wait_begins(void);
void wait_ends(Waiting waiting);

#endif
