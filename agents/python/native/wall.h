/* WALL samples and the instantaneous look at all THREADS. */
#ifndef FLAMEWATCH_WALL_H
#define FLAMEWATCH_WALL_H

#include "capture.h"
#include "threads.h"

/* Looks at the next `max_threads` threads; each visit counts for the time since the last one.
   A thread whose CPU clock stands still is where it was, and is not read again; who has slept for
   half a second is looked at by every fourth tick. THREADS_MAX: everybody, now. */
void wall_tick(Capture *capture, Threads *threads, Walk *walk, int max_threads);

/* A sample of a thread from outside. */
Stack *sample_thread(Capture *capture, const Thread *thread, Walk *walk, int64_t value);

/* Counts every thread once, where it is now. */
void look_at_all(Capture *capture, Threads *threads, Walk *walk);

#endif
