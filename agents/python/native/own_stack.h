/* The caller's own stack, read by the sampler's means and compared with the interpreter's word. */
#ifndef FLAMEWATCH_OWN_STACK_H
#define FLAMEWATCH_OWN_STACK_H

#include <stdbool.h>

#include "walk.h"

/* With the GIL. False if the calling thread's stack could not be read. */
bool walk_own_stack(Walk *walk);

/* Does the walk agree with what the interpreter says: the same code objects in the same order, at
   the same instruction, with the same name, file, first line and line table? */
bool is_own_stack(const Walk *walk);

#endif
