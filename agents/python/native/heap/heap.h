/* Sampled allocations: selection of blocks, and their statistics.

   The requests of a thread use up a distance in bytes that is drawn anew for each sample from an
   exponential distribution. So each byte has the same chance, and a block of n bytes is sampled
   with probability 1 - exp(-n / mean). Its weight is the inverse of that. */
#ifndef FLAMEWATCH_HEAP_H
#define FLAMEWATCH_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heap/blocks.h"
#include "heap/sites.h"

/* Distance of a thread to its next sample. */
typedef struct Countdown {
  int64_t left; /* bytes; below zero: the request is sampled, or a leg is over */
  double mean;  /* mean with which `left` was drawn */
  uint64_t dice;
  uint32_t run; /* run of the heap in which `left` was drawn */
  bool leg;     /* `left` is only a part of the distance */
  bool apart;   /* this thread's requests are not counted */
  bool inside;  /* a domain serves a request, and may pass it on to another one */
} Countdown;

extern __thread Countdown countdown __attribute__((tls_model("initial-exec")));

typedef struct HeapOptions {
  double mean_bytes;
  size_t max_bytes; /* of the table of sites */
  int max_depth, samples_per_second;
} HeapOptions;

typedef struct HeapCounts {
  int64_t samples, torn, foreign, table_full, cut, forgotten, lost;
  int64_t spent_ns; /* the host's CPU time for samples; in a view: since the previous view */
} HeapCounts;

/* Snapshot of the statistics. */
typedef struct HeapView {
  Sites sites;
  HeapCounts counts; /* since counting began, or since the mark */
  double mean_bytes;
  int64_t since_unix_ns, began_unix_ns, duration_ns;
  size_t memory;
} HeapView;

/* Start counting, or restart it from zero. Return false if there is no memory. Needs the offsets
   of verify.c. */
bool heap_open(const HeapOptions *options);

/* Stop counting. Hooks that are still called do nothing from now on. */
void heap_close(void);

bool heap_is_open(void);

/* Begin the interval of HEAP_ALLOC. */
void heap_mark(void);

/* Copy the state for HEAP, or the statistics since the mark. Return false if there is no memory.
   Release the copy with sites_close(&view->sites). */
bool heap_view(HeapView *view, bool interval);

/* Called by the hooks when this block brought the thread's countdown below zero: sample the
   block if it ends the distance to the next sample. `gil`: the caller holds it. */
void heap_sample(void *block, size_t n, bool gil);

/* Sampled block that is counted as freed. */
typedef struct Taken {
  Block block;
  uint32_t generation; /* generation of the tables from which it was taken */
} Taken;

/* Take the block out of the tables, if it was sampled, before its memory can be reused. */
bool heap_take(void *block, Taken *taken);
/* Put the block back, because its reallocation failed. */
void heap_put_back(const Taken *taken);

/* Called around a fork, so that the child finds consistent tables; the child counts from zero. */
void heap_before_fork(void);
void heap_after_fork_in_parent(void);
void heap_after_fork_in_child(void);

#endif
