#include "base/arena.h"

#include <string.h>
#include <sys/mman.h>

static size_t rounded(size_t n) { return (n + 7) & ~(size_t)7; }

bool arena_open(Arena *arena, size_t size) {
  void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return false;
  *arena = (Arena){base, 0, size};
  return true;
}

void arena_close(Arena *arena) {
  if (arena->base)
    munmap(arena->base, arena->size);
  *arena = (Arena){0};
}

void *arena_take(Arena *arena, size_t n) {
  if (n > arena->size || rounded(n) > arena->size - arena->used)
    return NULL;
  void *piece = arena->base + arena->used;
  arena->used += rounded(n);
  return piece;
}

void arena_trim(Arena *arena, void *newest, size_t n) {
  size_t used = (size_t)((char *)newest - arena->base) + rounded(n);
  memset(arena->base + used, 0, arena->used - used);
  arena->used = used;
}
