/* Stack of one thread, read from its thread state. */
#ifndef FLAMEWATCH_WALK_H
#define FLAMEWATCH_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "offsets.h"

#define MAX_DEPTH_LIMIT 2048
#define THREAD_STATE_MAX 1024 /* largest supported copy of a thread state, in bytes */
#define HEAD_START 8          /* offset of the type in a code object */
#define HEAD_MAX 160
#define CHUNK_BYTES 16384 /* size of the chunks of CPython's data stacks */
#define HEADS_AT_ONCE 32
#define LABEL_MAX 1024

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
  bool cut; /* the stack was deeper than max_depth */
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

/* Properties of the interpreter that walks need; set once before the first. */
typedef struct Interpreter {
  Offsets offsets;
  uintptr_t code_type, self; /* PyCode_Type; the interpreter state that is sampled */
} Interpreter;

extern Interpreter python;

static inline size_t walk_bytes(int max_depth) { return sizeof(Walk) + (size_t)max_depth * sizeof(CodePosition); }

/* Copy the thread state at `ts` to walk->state. */
bool walk_read_state(Walk *walk, uintptr_t ts);

/* Follow the frames of the thread state in walk->state. Async-signal-safe. The stack of another,
   running thread may change meanwhile: return WALK_TORN if it is inconsistent. */
Walked walk_frames(Walk *walk);

/* Add a copied frame as the next position, for which there must be room. Return false if it is no
   valid frame. */
bool walk_add(Walk *walk, const char *frame);

/* Return a field of a copied thread state. */
static inline uintptr_t state_field(const char *state, int offset) {
  uintptr_t word;
  __builtin_memcpy(&word, state + offset - python.offsets.ts_next, sizeof word);
  return word;
}

#endif
