/* Memory of one capture: one bounded mapping, allocated in order and freed as a whole.

   The sampler thread never calls malloc, so a fork cannot leave malloc's lock taken by it.
   Untouched pages use no memory. */
#ifndef FLAMEWATCH_ARENA_H
#define FLAMEWATCH_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Arena {
  char *base;
  size_t used, size;
} Arena;

bool arena_open(Arena *arena, size_t size);
void arena_close(Arena *arena);

/* Return zeroed memory, aligned to 8 bytes; NULL if the arena is full. */
void *arena_take(Arena *arena, size_t n);

/* Shrink the newest allocation to `n` bytes. */
void arena_trim(Arena *arena, void *newest, size_t n);

#endif
