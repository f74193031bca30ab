/* State of one capture: its options, tables and statistics. */
#ifndef FLAMEWATCH_CAPTURE_H
#define FLAMEWATCH_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "capture/codes.h"
#include "capture/labels.h"
#include "capture/stacks.h"
#include "interpreter/positions.h"

typedef enum Kind { KIND_CPU, KIND_WALL, KIND_THREADS, KIND_CONTENTION } Kind;

#define EXCLUDED_MAX 16
#define IDLE_MAX 32

/* A wait for work: the code of the frame that waits, and of its caller (0: any caller). */
typedef struct IdleWait {
  uintptr_t inner, outer;
} IdleWait;

typedef struct Options {
  Kind kind;
  int64_t period_ns;
  int max_depth, max_threads, excluded_n;
  size_t max_bytes;
  bool per_thread;
  pid_t excluded[EXCLUDED_MAX];
  int idle_n;
  IdleWait idle[IDLE_MAX]; /* contention: waits to leave out */
} Options;

typedef struct Counts {
  int64_t ticks, samples, reused, torn, no_slot, table_full, cut, unarmed, signal_taken, overdue, labels_full, lost,
      tried, idle, gil_waits;
} Counts;

typedef struct Capture {
  Options options;
  Arena arena;
  Codes codes;
  Stacks stacks;
  Labels labels;
  Counts counts;
  int64_t started_unix_ns, started_ns, ended_ns, sampler_cpu_ns;
  size_t memory_bytes; /* used outside `arena`: threads, signal slots */
} Capture;

bool capture_open(Capture *capture, const Options *options);
void capture_close(Capture *capture);

bool is_excluded(const Capture *capture, pid_t thread);

/* Record a sample of `value`. Return its stack, or NULL if it was dropped (and counted as such). */
Stack *record(Capture *capture, const Walk *walk, Walked walked, pid_t thread, int64_t value);

/* Find or add the walked stack. Return NULL if it was dropped (and counted, with `value`). */
Stack *find_stack(Capture *capture, const Walk *walk, Walked walked, pid_t thread, int64_t value);

/* Record one sample that represents `n`. */
void record_many(Capture *capture, Stack *stack, int64_t n, int64_t value);

/* Record another sample of a recorded stack. */
void record_again(Capture *capture, Stack *stack, int64_t value);

#endif
