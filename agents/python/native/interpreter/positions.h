/* Memory of a walk: the positions that it has found on a stack, and copies of what it reads. */
#ifndef FLAMEWATCH_POSITIONS_H
#define FLAMEWATCH_POSITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "interpreter/offsets.h"
#include "interpreter/peek.h"

#define MAX_DEPTH_LIMIT 2048
#define THREAD_STATE_MAX 1024 /* largest supported copy of a thread state, in bytes */
#define HEAD_START 8          /* offset of the type in a code object */
#define HEAD_MAX 160
#define CHUNK_BYTES 16384 /* size of the chunks of CPython's data stacks */
#define HEADS_AT_ONCE 32
#define LABEL_MAX 1024
#define CODE_BYTES_MAX (64 << 20)

/* Position in a running function, as read without a lookup. */
typedef struct CodePosition {
  uintptr_t code;
  int32_t offset;      /* of the instruction, in bytes; negative: entered, not begun */
  char head[HEAD_MAX]; /* the code object from HEAD_START to the end of its line table's pointer */
} CodePosition;

typedef struct Chunk {
  uintptr_t at, previous; /* `previous` is the chunk below */
  size_t n;
  char bytes[CHUNK_BYTES];
} Chunk;

#define TASKS_AT_ONCE 8 /* running event loops */

typedef struct RunningTask {
  uintptr_t task, frame; /* frame of its coroutine */
} RunningTask;

/* State of a walk, kept here so that it takes next to nothing from a signal stack. */
typedef struct Walk {
  int depth, max_depth;
  bool cut;           /* the stack was deeper than max_depth */
  bool waits_for_gil; /* set by WALL ticks only; walk_read_state() clears it */
  Chunk chunk;
  uintptr_t ts;
  uintptr_t next_at, next_end, next_previous; /* the chunk below, found but not copied */
  char state[THREAD_STATE_MAX], frame[128], label[LABEL_MAX];
  int label_n;                        /* bytes of `label`; 0: the thread has no labels */
  RunningTask running[TASKS_AT_ONCE]; /* see tasks.h */
  int running_n;
  uintptr_t task; /* the task found on the stack; 0: none */
  struct iovec to[HEADS_AT_ONCE], from[HEADS_AT_ONCE];
  CodePosition positions[];
} Walk;

typedef enum Walked { WALK_OK, WALK_EMPTY, WALK_TORN } Walked;

static inline size_t walk_bytes(int max_depth) { return sizeof(Walk) + (size_t)max_depth * sizeof(CodePosition); }

/* Return a field of a copied thread state. */
static inline uintptr_t state_field(const char *state, int offset) {
  uintptr_t word;
  __builtin_memcpy(&word, state + offset - python.offsets.ts_next, sizeof word);
  return word;
}

/* Add a copied frame as the next position, for which there must be room. Return false if it is no
   valid frame. */
static inline bool walk_add(Walk *walk, const char *frame) {
  const Offsets *o = &python.offsets;
  CodePosition *position = &walk->positions[walk->depth];
  position->code = word_at(frame, o->frame_code) & o->frame_code_mask;
  intptr_t offset = (intptr_t)(word_at(frame, o->frame_instr) - position->code) - o->code_bytes;
  if (!position->code || offset < -16 || offset > CODE_BYTES_MAX)
    return false;
  position->offset = (int32_t)offset;
  walk->depth++;
  return true;
}

#endif
