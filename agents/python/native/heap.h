/* Sampled allocations: which blocks are chosen, and what is known of them.

   A thread's requests run down a distance in bytes that is drawn anew for each sample, exponentially
   distributed: so each byte has the same chance, and a block of n bytes is chosen with probability
   1 - exp(-n / mean). It stands for the inverse of that. */
#ifndef FLAMEWATCH_HEAP_H
#define FLAMEWATCH_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "blocks.h"
#include "sites.h"

/* A thread's way to its next sample. */
typedef struct Countdown {
  int64_t left;  /* bytes; below zero: the request that did that is chosen, or a leg is over */
  double mean;   /* by which `left` was drawn */
  uint64_t dice;
  uint32_t run;  /* of the heap, when `left` was drawn */
  bool leg;      /* `left` is only a part of the way */
  bool apart;    /* this thread's requests are not counted */
  bool inside;   /* a domain is serving a request, and may ask another one for it */
} Countdown;

extern __thread Countdown countdown __attribute__((tls_model("initial-exec")));

typedef struct HeapOptions {
  double mean_bytes;
  size_t max_bytes; /* of the table of sites */
  int max_depth, samples_per_second;
} HeapOptions;

typedef struct HeapCounts {
  int64_t samples, torn, foreign, table_full, cut, forgotten, lost;
  int64_t spent_ns; /* CPU time of the host's threads for the samples; in a view: since the view before */
} HeapCounts;

/* What was counted, at one moment. */
typedef struct HeapView {
  Sites sites;
  HeapCounts counts; /* since counting began, or since the mark */
  double mean_bytes;
  int64_t since_unix_ns, began_unix_ns, duration_ns;
  size_t memory;
} HeapView;

/* Counting begins (again, from nothing). False: no memory. Needs what verify.c finds out. */
bool heap_open(const HeapOptions *options);

/* Counting ends; hooks that are still called do nothing any more. */
void heap_close(void);

bool heap_is_open(void);

/* The interval of HEAP_ALLOC begins. */
void heap_mark(void);

/* Copies what HEAP shows, or what happened since the mark. False: no memory. To be closed by
   sites_close(&view->sites). */
bool heap_view(HeapView *view, bool interval);

/* For the hooks. The countdown of this thread is below zero because of this block: perhaps it is
   sampled. `gil`: the caller holds it. */
void heap_sample(void *block, size_t n, bool gil);

/* A block that was sampled, and is counted as freed. */
typedef struct Taken {
  Block block;
  uint32_t generation; /* of the tables, when it was in them */
} Taken;

/* Takes the block out, if it was sampled, before its memory can be anybody else's … */
bool heap_take(void *block, Taken *taken);
/* … and back in, because it could not be reallocated. */
void heap_put_back(const Taken *taken);

/* Around a fork, so that the child finds the tables whole; there it counts from nothing. */
void heap_before_fork(void);
void heap_after_fork_in_parent(void);
void heap_after_fork_in_child(void);

#endif
