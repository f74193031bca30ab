/* Stack of one thread, read from its thread state. */
#ifndef FLAMEWATCH_WALK_H
#define FLAMEWATCH_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "interpreter/positions.h"

/* Copy the thread state at `ts` to walk->state. */
bool walk_read_state(Walk *walk, uintptr_t ts);

/* Follow the frames of the thread state in walk->state. Async-signal-safe. The stack of another,
   running thread may change meanwhile: return WALK_TORN if it is inconsistent. */
Walked walk_frames(Walk *walk);

#endif
