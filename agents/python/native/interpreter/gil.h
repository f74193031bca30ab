/* Waits for the GIL, read from outside.

   A thread that waits for the GIL sleeps in futex(2) on a word inside the GIL. The kernel shows
   the system call of a sleeping thread of the own process, with its arguments, in /proc. */
#ifndef FLAMEWATCH_GIL_H
#define FLAMEWATCH_GIL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Find the GIL of the sampled interpreter. Call with the GIL, which the check needs. Return NULL,
   or the reason why waits for it cannot be read here; then no thread seems to wait. */
const char *gil_find(void);

/* Return whether a thread holds the GIL. If none does, a wait for it ends within microseconds. */
bool gil_is_taken(void);

typedef enum GilWait {
  GIL_NOT_AWAITED,
  GIL_AWAITED, /* a thread that was forced to release the GIL waits for it, too */
  GIL_UNCLEAR, /* it does not hold the GIL and is not asleep: it runs C code, or has woken to try
                  again, as waiting threads do every 5 ms */
} GilWait;

/* Look at the thread with this id and thread state, of this process. */
GilWait gil_look(pid_t thread, uintptr_t ts);

#endif
