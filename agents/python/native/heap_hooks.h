/* Our place in Python's allocators. */
#ifndef FLAMEWATCH_HEAP_HOOKS_H
#define FLAMEWATCH_HEAP_HOOKS_H

#include <stdbool.h>

/* Puts hooks into the domains for memory and objects, and the raw one if wanted. With the GIL. */
void hooks_put_in(bool raw);

/* Takes them out, except where somebody else's lie over them: there they pass everything through. */
void hooks_take_out(void);

/* Do requests reach our hooks? Somebody who came before us and went since took them along. With the
   GIL; only to be asked by a thread that is counted or not, not in the middle of a request. */
bool hooks_are_reached(void);

#endif
