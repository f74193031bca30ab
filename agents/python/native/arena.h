/* The memory of one capture: one bounded mapping, taken from in order, given back as a whole.
   The sampler thread never calls malloc, so a fork in its middle leaves no lock behind. Pages that
   nothing was put on cost nothing. */
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

/* Zeroed, aligned to 8 bytes; NULL when the arena is full. */
void *arena_take(Arena *arena, size_t n);

/* Gives back the end of the newest piece, so that it is `n` bytes long. */
void arena_trim(Arena *arena, void *newest, size_t n);

#endif
