/* The sampled blocks that are in use, by address.

   Every free in the process asks whether its block is one of them, so a filter of counters, one for
   each value of the address's middle bits, says "no" without a lock for nearly all. */
#ifndef FLAMEWATCH_BLOCKS_H
#define FLAMEWATCH_BLOCKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"

#define FILTER_SIZE (1 << 16)
#define BLOCKS_MAX (1 << 17)

typedef struct Block {
  uintptr_t address; /* 0: an empty place in the table */
  size_t size;
  double weight; /* how many blocks it stands for */
  uint32_t site;
  uint32_t interval; /* in which it was allocated */
} Block;

typedef struct Blocks {
  Arena memory;
  Block *at;
  uint32_t n, capacity; /* a power of two */
} Blocks;

extern _Atomic uint8_t blocks_filter[FILTER_SIZE];

static inline uint32_t filter_slot(uintptr_t address) { return (uint32_t)(address >> 4) & (FILTER_SIZE - 1); }

/* False: certainly not. To be asked without a lock by who owns the block. */
static inline bool may_be_sampled(const void *block) {
  return atomic_load_explicit(&blocks_filter[filter_slot((uintptr_t)block)], memory_order_relaxed) != 0;
}

/* From now on, and no longer, may_be_sampled() says yes to this address. */
void blocks_watch(uintptr_t address);
void blocks_unwatch(uintptr_t address);

bool blocks_open(Blocks *blocks);
void blocks_close(Blocks *blocks);

/* False: there is no room. The address must not be in the table. */
bool blocks_add(Blocks *blocks, const Block *block);

/* Moves the block at this address out of the table; false if it isn't there. */
bool blocks_take(Blocks *blocks, uintptr_t address, Block *taken);

#endif
