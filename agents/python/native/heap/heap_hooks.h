/* Hooks in Python's allocators. */
#ifndef FLAMEWATCH_HEAP_HOOKS_H
#define FLAMEWATCH_HEAP_HOOKS_H

#include <stdbool.h>

/* Install hooks in the mem and object domains, and in the raw domain's requests if `raw`. With
   the GIL. */
void hooks_put_in(bool raw);

/* Remove the hooks, except below hooks of other code: those stay and pass everything through. */
void hooks_take_out(void);

/* Return whether requests reach the hooks. Code that hooked the allocators earlier and restored
   them since has removed the hooks too. Call with the GIL, outside any request. */
bool hooks_are_reached(void);

#endif
