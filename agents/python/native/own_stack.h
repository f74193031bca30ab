/* The caller's own stack, read as the sampler does and compared with the interpreter's own view. */
#ifndef FLAMEWATCH_OWN_STACK_H
#define FLAMEWATCH_OWN_STACK_H

#include <stdbool.h>

#include "interpreter/positions.h"

/* Read the calling thread's stack. With the GIL. Return false if it could not be read. */
bool walk_own_stack(Walk *walk);

/* Return whether the walk equals the interpreter's view: the same code objects in the same
   order, at the same instruction, with the same name, file, first line and line table. */
bool is_own_stack(const Walk *walk);

#endif
