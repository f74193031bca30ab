#include "capture/stacks.h"

#include <string.h>

static size_t stack_bytes(int depth) { return sizeof(Stack) + (size_t)depth * sizeof(Frame); }

bool stacks_open(Stacks *stacks, Arena *arena) {
  *stacks = (Stacks){.buckets = arena_take(arena, STACK_BUCKETS * sizeof(Stack *)),
                     .draft = arena_take(arena, stack_bytes(MAX_DEPTH_LIMIT))};
  return stacks->buckets && stacks->draft;
}

static bool name_frames(Stack *stack, Codes *codes, Arena *arena, const Walk *walk) {
  for (int i = 0; i < walk->depth; i++) {
    uint32_t id;
    switch (code_find(codes, arena, &walk->positions[i], &id)) {
    case CODE_OK:
      stack->frames[stack->depth++] = (Frame){id, walk->positions[i].offset};
      break;
    case CODE_HIDDEN:
      break;
    case CODE_FULL:
      return false;
    }
  }
  return true;
}

static uint64_t hash_of(const Stack *stack) { /* FNV-1a over words */
  uint64_t h = 14695981039346656037ULL ^ (uint32_t)stack->thread ^ (uint64_t)stack->cut << 32 ^
               (uint64_t)stack->waits_for_gil << 33 ^ (uint64_t)stack->label << 40;
  for (int i = 0; i < stack->depth; i++)
    h = (h ^ (stack->frames[i].code | (uint64_t)(uint32_t)stack->frames[i].offset << 32)) * 1099511628211ULL;
  return h ^ h >> 29;
}

static bool same(const Stack *a, const Stack *b) {
  return a->hash == b->hash && a->thread == b->thread && a->label == b->label && a->depth == b->depth &&
         a->cut == b->cut && a->waits_for_gil == b->waits_for_gil &&
         !memcmp(a->frames, b->frames, a->depth * sizeof *a->frames);
}

static void keep(Stacks *stacks, Stack *stack, Stack **bucket) {
  stack->next = *bucket;
  *bucket = stack;
  if (stacks->last)
    stacks->last->newer = stack;
  else
    stacks->first = stack;
  stacks->last = stack;
  stack->index = stacks->n++;
  stacks->frames += stack->depth;
}

Stack *stack_draft(Stacks *stacks) {
  memset(stacks->draft, 0, sizeof *stacks->draft);
  return stacks->draft;
}

Stack *stack_keep(Stacks *stacks, Arena *arena) {
  Stack *draft = stacks->draft;
  draft->hash = hash_of(draft);
  Stack **bucket = &stacks->buckets[draft->hash & (STACK_BUCKETS - 1)];
  for (Stack *entry = *bucket; entry; entry = entry->next)
    if (same(entry, draft))
      return entry;
  Stack *added = arena_take(arena, stack_bytes(draft->depth));
  if (!added)
    return NULL;
  memcpy(added, draft, stack_bytes(draft->depth));
  keep(stacks, added, bucket);
  return added;
}

Stack *stack_find(Stacks *stacks, Codes *codes, Arena *arena, const Walk *walk, int32_t thread, uint32_t label) {
  Stack *draft = stack_draft(stacks);
  if (!name_frames(draft, codes, arena, walk))
    return NULL;
  draft->thread = thread;
  draft->label = label;
  draft->cut = walk->cut;
  draft->waits_for_gil = walk->waits_for_gil;
  return stack_keep(stacks, arena);
}
