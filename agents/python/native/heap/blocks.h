/* Sampled blocks that are in use, by address.

   Every free in the process checks whether its block is sampled. A filter of counters, indexed
   by the middle bits of the address, excludes nearly all blocks without a lock. */
#ifndef FLAMEWATCH_BLOCKS_H
#define FLAMEWATCH_BLOCKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

#define FILTER_SIZE (1 << 16)
#define BLOCKS_MAX (1 << 17)

typedef struct Block {
  uintptr_t address; /* 0: an empty slot of the table */
  size_t size;
  double weight; /* number of blocks that it represents */
  uint32_t site;
  uint32_t interval; /* interval in which it was allocated */
} Block;

typedef struct Blocks {
  Arena memory;
  Block *at;
  uint32_t n, capacity; /* a power of two */
} Blocks;

extern _Atomic uint8_t blocks_filter[FILTER_SIZE];

static inline uint32_t filter_slot(uintptr_t address) { return (uint32_t)(address >> 4) & (FILTER_SIZE - 1); }

/* Return false only if the block is certainly not sampled. Needs no lock if the caller owns the
   block. */
static inline bool may_be_sampled(const void *block) {
  return atomic_load_explicit(&blocks_filter[filter_slot((uintptr_t)block)], memory_order_relaxed) != 0;
}

/* Begin and end a range in which may_be_sampled() returns true for this address. */
void blocks_watch(uintptr_t address);
void blocks_unwatch(uintptr_t address);

bool blocks_open(Blocks *blocks);
void blocks_close(Blocks *blocks);

/* Return false if there is no room. The address must not be in the table. */
bool blocks_add(Blocks *blocks, const Block *block);

/* Move the block at this address out of the table; return false if it is not there. */
bool blocks_take(Blocks *blocks, uintptr_t address, Block *taken);

#endif
