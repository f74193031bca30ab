#include "interpreter/walk.h"

#include <string.h>

#include "interpreter/peek.h"
#include "interpreter/tasks.h"

#define CHUNK_SIZE_MAX (1 << 30)
enum { CHUNK_PREVIOUS = 0, CHUNK_SIZE = 8, CHUNK_HEADER = 24 };

bool walk_read_state(Walk *walk, uintptr_t ts) {
  walk->ts = ts;
  walk->waits_for_gil = false;
  return peek(walk->state, ts + (uintptr_t)python.offsets.ts_next, (size_t)thread_state_bytes(&python.offsets));
}

/* Return the address of the pointer to the current frame; 0 if the thread has none yet. */
static uintptr_t frame_pointer(const Walk *walk) {
  const Offsets *o = &python.offsets;
  if (o->ts_frame >= 0)
    return walk->ts + (uintptr_t)o->ts_frame;
  uintptr_t cframe = state_field(walk->state, o->ts_cframe);
  return cframe ? cframe + (uintptr_t)o->cframe_frame : 0;
}

static void aim_at_chunk(Chunk *chunk, uintptr_t at, uintptr_t end, uintptr_t previous) {
  chunk->at = end - at > CHUNK_BYTES ? end - CHUNK_BYTES : at;
  chunk->n = (size_t)(end - chunk->at);
  chunk->previous = previous;
}

static bool in_chunk(const Chunk *chunk, uintptr_t frame, size_t size) {
  return chunk->n >= size && frame >= chunk->at && frame - chunk->at <= chunk->n - size;
}

typedef struct Glance {
  uintptr_t before, after, top; /* current frame before and after the copy, top of the stack after */
} Glance;

/* Read the current frame and the chunk that probably contains it in one call: a running thread
   advances less during one call than between two. Frames of ordinary functions are adjacent in
   chunks, so one copy serves dozens of them. */
static bool glance(Walk *walk, Glance *seen, uintptr_t pointer, uintptr_t header) {
  Chunk *chunk = &walk->chunk;
  uintptr_t top = walk->ts + (uintptr_t)python.offsets.ts_top;
  struct iovec to[5] = {
      {&seen->before, 8}, {chunk->bytes, chunk->n}, {&chunk->previous, 8}, {&seen->after, 8}, {&seen->top, 8}};
  struct iovec from[5] = {{(void *)pointer, 8},
                          {(void *)chunk->at, chunk->n},
                          {(void *)(header + CHUNK_PREVIOUS), 8},
                          {(void *)pointer, 8},
                          {(void *)top, 8}};
  return peek_many(to, from, 5, chunk->n + 32);
}

static bool copy_top(Walk *walk, uintptr_t *frame) {
  uintptr_t at = state_field(walk->state, python.offsets.ts_chunk), pointer = frame_pointer(walk);
  uintptr_t top = state_field(walk->state, python.offsets.ts_top);
  Glance seen;
  walk->chunk.n = walk->next_at = 0;
  if (!pointer)
    return false;
  if (!at || top <= at + CHUNK_HEADER || top - at > CHUNK_SIZE_MAX)
    return peek(frame, pointer, sizeof *frame);
  aim_at_chunk(&walk->chunk, at, top, 0);
  if (!glance(walk, &seen, pointer, at))
    return false;
  /* A frame above the top has returned: its copy is stale, and its caller's memory may be in use
     by other code. */
  bool returned = seen.before >= seen.top && in_chunk(&walk->chunk, seen.before, 1);
  *frame = returned ? seen.after : seen.before;
  return true;
}

static void copy_next_chunk(Walk *walk) {
  Chunk *chunk = &walk->chunk;
  aim_at_chunk(chunk, walk->next_at, walk->next_end, walk->next_previous);
  if (!peek(chunk->bytes, chunk->at, chunk->n))
    chunk->n = 0;
  walk->next_at = 0;
}

static bool know_next_chunk(Walk *walk) {
  char header[CHUNK_HEADER];
  if (walk->next_at)
    return true;
  if (!walk->chunk.previous || !peek(header, walk->chunk.previous, sizeof header))
    return false;
  size_t size = word_at(header, CHUNK_SIZE);
  if (size < CHUNK_HEADER || size > CHUNK_SIZE_MAX)
    return false;
  walk->next_at = walk->chunk.previous;
  walk->next_end = walk->next_at + size;
  walk->next_previous = word_at(header, CHUNK_PREVIOUS);
  return true;
}

/* Return a copy of the frame: from the chunk, from the one below, or read by itself (generators,
   shims). */
static const char *frame_copy(Walk *walk, uintptr_t frame) {
  size_t size = (size_t)python.offsets.frame_size;
  if (in_chunk(&walk->chunk, frame, size))
    return walk->chunk.bytes + (frame - walk->chunk.at);
  if (know_next_chunk(walk) && frame >= walk->next_at && frame < walk->next_end) {
    copy_next_chunk(walk);
    if (in_chunk(&walk->chunk, frame, size))
      return walk->chunk.bytes + (frame - walk->chunk.at);
  }
  return peek(walk->frame, frame, size) ? walk->frame : NULL;
}

static bool is_shim(unsigned owner) {
  int first = python.offsets.shim_owner;
  return first && owner >= (unsigned)first && owner <= (unsigned)first + 1;
}

/* The outermost frame of a complete stack is a shim (3.12 and later), or at least not a
   generator's, which has a caller while it runs. Otherwise the chain was read during a change. */
static bool may_end_on(unsigned owner) { return python.offsets.shim_owner ? is_shim(owner) : owner == OWNED_BY_THREAD; }

static bool follow(Walk *walk, uintptr_t frame) {
  unsigned owner = OWNED_BY_THREAD;
  for (int step = 0; frame; step++) {
    const char *copy = frame & 7 || step > 2 * walk->max_depth + 64 ? NULL : frame_copy(walk, frame);
    if (!copy)
      return false;
    owner = (unsigned char)copy[python.offsets.frame_owner];
    uintptr_t caller = word_at(copy, python.offsets.frame_previous);
    if (owner <= OWNED_BY_GENERATOR) {
      if (walk->depth == walk->max_depth)
        return walk->cut = true;
      if (!walk_add(walk, copy))
        return false;
    } else if (!is_shim(owner)) {
      return false;
    }
    if (owner == OWNED_BY_GENERATOR)
      tasks_meet(walk, frame);
    frame = caller;
  }
  return walk->depth == 0 || may_end_on(owner);
}

/* Read the heads of positions [first, end), skipping those with the same code as their predecessor. */
static bool read_heads(Walk *walk, int first, int end) {
  size_t size = (size_t)(python.offsets.code_line_table + 8 - HEAD_START), total = 0;
  unsigned n = 0;
  for (int i = first; i < end; i++) {
    if (i > first && walk->positions[i].code == walk->positions[i - 1].code)
      continue;
    walk->to[n] = (struct iovec){walk->positions[i].head, size};
    walk->from[n++] = (struct iovec){(void *)(walk->positions[i].code + HEAD_START), size};
    total += size;
  }
  if (!peek_many(walk->to, walk->from, n, total))
    return false;
  for (int i = first + 1; i < end; i++)
    if (walk->positions[i].code == walk->positions[i - 1].code)
      memcpy(walk->positions[i].head, walk->positions[i - 1].head, size);
  return true;
}

static bool are_codes(const Walk *walk) {
  for (int i = 0; i < walk->depth; i++)
    if (word_at(walk->positions[i].head, 0) != python.code_type)
      return false;
  return true;
}

Walked walk_frames(Walk *walk) {
  uintptr_t frame = 0;
  walk->depth = 0;
  walk->cut = false;
  tasks_look(walk);
  if (!copy_top(walk, &frame) || !follow(walk, frame))
    return WALK_TORN;
  for (int i = 0; i < walk->depth; i += HEADS_AT_ONCE) {
    int end = i + HEADS_AT_ONCE < walk->depth ? i + HEADS_AT_ONCE : walk->depth;
    if (!read_heads(walk, i, end))
      return WALK_TORN;
  }
  if (!are_codes(walk))
    return WALK_TORN;
  return walk->depth ? WALK_OK : WALK_EMPTY;
}
