#include "heap/sites.h"

#include <string.h>

bool sites_open(Sites *sites, size_t max_bytes) {
  *sites = (Sites){0};
  if (!arena_open(&sites->arena, max_bytes))
    return false;
  if (arena_open(&sites->values, SITES_MAX * sizeof(Site)) && codes_open(&sites->codes, &sites->arena) &&
      stacks_open(&sites->stacks, &sites->arena)) {
    sites->at = arena_take(&sites->values, SITES_MAX * sizeof(Site));
    return true;
  }
  sites_close(sites);
  return false;
}

void sites_close(Sites *sites) {
  arena_close(&sites->arena);
  arena_close(&sites->values);
}

static bool has_room(const Sites *sites) { return sites->stacks.n < SITES_MAX; }

int64_t site_find(Sites *sites, const Walk *walk) {
  const Stack *stack = has_room(sites) ? stack_find(&sites->stacks, &sites->codes, &sites->arena, walk, 0, 0) : NULL;
  return stack ? (int64_t)stack->index : -1;
}

/* Codes of one table by id, and their ids in another table (plus one; 0: not copied yet). */
typedef struct Renumbering {
  Arena memory;
  const Code **codes;
  uint32_t *ids;
} Renumbering;

static bool renumbering_open(Renumbering *r, const Codes *codes) {
  size_t n = codes->n ? codes->n : 1, i = 0;
  if (!arena_open(&r->memory, n * (sizeof *r->codes + sizeof *r->ids) + 16))
    return false;
  r->codes = arena_take(&r->memory, n * sizeof *r->codes);
  r->ids = arena_take(&r->memory, n * sizeof *r->ids);
  for (const Code *code = codes->first; code; code = code->newer)
    r->codes[i++] = code;
  return true;
}

static bool copy_frame(Sites *to, Renumbering *r, Frame *frame) {
  uint32_t *id = &r->ids[frame->code];
  if (!*id) {
    const Code *code = code_copy(&to->codes, &to->arena, r->codes[frame->code]);
    if (!code)
      return false;
    *id = code->id + 1;
  }
  frame->code = *id - 1;
  return true;
}

static const Stack *copy_stack(Sites *to, Renumbering *r, const Stack *stack) {
  Stack *draft = stack_draft(&to->stacks);
  memcpy(draft->frames, stack->frames, stack->depth * sizeof *stack->frames);
  draft->depth = stack->depth;
  draft->cut = stack->cut;
  for (int i = 0; i < draft->depth; i++)
    if (!copy_frame(to, r, &draft->frames[i]))
      return NULL;
  return stack_keep(&to->stacks, &to->arena);
}

static bool copy_all(Sites *to, const Sites *from, SiteFilter *includes, uint32_t *moved, Renumbering *r) {
  for (const Stack *stack = from->stacks.first; stack; stack = stack->newer) {
    if (!includes(&from->at[stack->index]))
      continue;
    const Stack *copy = copy_stack(to, r, stack);
    if (!copy)
      return false;
    to->at[copy->index] = from->at[stack->index];
    if (moved)
      moved[stack->index] = copy->index;
  }
  return true;
}

bool sites_copy(Sites *to, const Sites *from, SiteFilter *includes, uint32_t *moved) {
  Renumbering r;
  if (!renumbering_open(&r, &from->codes))
    return false;
  bool copied = sites_open(to, from->arena.size);
  if (copied && !copy_all(to, from, includes, moved, &r)) {
    sites_close(to);
    copied = false;
  }
  arena_close(&r.memory);
  return copied;
}
