/* WALL samples, and the instantaneous sample of all THREADS. */
#ifndef FLAMEWATCH_WALL_H
#define FLAMEWATCH_WALL_H

#include "capture/capture.h"
#include "sampling/threads.h"

/* Sample the next `max_threads` threads; each visit counts for the time since the previous one.
   A thread whose CPU clock has not advanced has the same stack, which is not read again; a
   thread that has slept for half a second is visited at every fourth tick. Stacks of threads
   that wait for the GIL are marked. THREADS_MAX: visit all threads now. */
void wall_tick(Capture *capture, Threads *threads, Walk *walk, int max_threads);

/* Sample another thread. */
Stack *sample_thread(Capture *capture, const Thread *thread, Walk *walk, int64_t value);

/* Sample every thread once, with the value 1. */
void look_at_all(Capture *capture, Threads *threads, Walk *walk);

#endif
