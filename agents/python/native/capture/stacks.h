/* Distinct stacks of one capture, with their values. */
#ifndef FLAMEWATCH_STACKS_H
#define FLAMEWATCH_STACKS_H

#include <stdint.h>

#include "base/arena.h"
#include "capture/codes.h"
#include "interpreter/positions.h"

#define STACK_BUCKETS 8192

typedef struct Frame {
  uint32_t code;
  int32_t offset;
} Frame;

typedef struct Stack {
  uint64_t hash;
  int64_t value, count;
  int32_t thread; /* native id; 0 when threads are merged */
  uint32_t label; /* 0: none */
  uint32_t index; /* position in the list */
  uint16_t depth;
  bool cut, waits_for_gil;
  struct Stack *next, *newer;
  Frame frames[]; /* the leaf first */
} Stack;

typedef struct Stacks {
  uint32_t n;
  uint64_t frames; /* of all stacks */
  Stack *first, *last;
  Stack **buckets;
  Stack *draft; /* the stack that is being looked up */
} Stacks;

bool stacks_open(Stacks *stacks, Arena *arena);

/* Find or add the walked stack. Return NULL if the arena is full. */
Stack *stack_find(Stacks *stacks, Codes *codes, Arena *arena, const Walk *walk, int32_t thread, uint32_t label);

/* Two halves of stack_find(), for frames from another source: return an empty draft to be
   filled, and find or add the entry for it. */
Stack *stack_draft(Stacks *stacks);
Stack *stack_keep(Stacks *stacks, Arena *arena);

#endif
