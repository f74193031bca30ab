#include "heap/blocks.h"

#include <string.h>

#define FIRST_CAPACITY 1024
#define SATURATED 255 /* such a counter never changes: may_be_sampled() stays true, which is safe */

_Atomic uint8_t blocks_filter[FILTER_SIZE];

static bool make_table(Blocks *blocks, uint32_t capacity) {
  *blocks = (Blocks){.capacity = capacity};
  if (!arena_open(&blocks->memory, capacity * sizeof(Block)))
    return false;
  blocks->at = arena_take(&blocks->memory, capacity * sizeof(Block));
  return true;
}

bool blocks_open(Blocks *blocks) { return make_table(blocks, FIRST_CAPACITY); }

void blocks_close(Blocks *blocks) {
  arena_close(&blocks->memory);
  *blocks = (Blocks){0};
  memset((void *)blocks_filter, 0, sizeof blocks_filter);
}

static uint32_t home(const Blocks *blocks, uintptr_t address) {
  return (uint32_t)((uint64_t)(address >> 4) * 0x9E3779B97F4A7C15ULL >> 40) & (blocks->capacity - 1);
}

/* Return the index of the address, or of the free slot for it. There always is one: the table is
   at most half full. */
static uint32_t find(const Blocks *blocks, uintptr_t address) {
  uint32_t i = home(blocks, address);
  while (blocks->at[i].address && blocks->at[i].address != address)
    i = (i + 1) & (blocks->capacity - 1);
  return i;
}

static void put(Blocks *blocks, const Block *block) {
  blocks->at[find(blocks, block->address)] = *block;
  blocks->n++;
}

static bool grow(Blocks *blocks) {
  Blocks larger;
  if (blocks->capacity == BLOCKS_MAX || !make_table(&larger, 2 * blocks->capacity))
    return false;
  for (uint32_t i = 0; i < blocks->capacity; i++)
    if (blocks->at[i].address)
      put(&larger, &blocks->at[i]);
  arena_close(&blocks->memory);
  *blocks = larger;
  return true;
}

void blocks_watch(uintptr_t address) {
  _Atomic uint8_t *counter = &blocks_filter[filter_slot(address)];
  if (*counter != SATURATED)
    ++*counter;
}

void blocks_unwatch(uintptr_t address) {
  _Atomic uint8_t *counter = &blocks_filter[filter_slot(address)];
  if (*counter != SATURATED)
    --*counter;
}

bool blocks_add(Blocks *blocks, const Block *block) {
  if (blocks->n >= blocks->capacity / 2 && !grow(blocks))
    return false;
  put(blocks, block);
  blocks_watch(block->address);
  return true;
}

/* Fill the hole at i with later entries that probing would no longer find (backward-shift
   deletion). */
static void close_gap(Blocks *blocks, uint32_t i) {
  uint32_t mask = blocks->capacity - 1;
  for (uint32_t k = (i + 1) & mask; blocks->at[k].address; k = (k + 1) & mask) {
    uint32_t first_choice = home(blocks, blocks->at[k].address);
    if (((k - first_choice) & mask) >= ((k - i) & mask)) {
      blocks->at[i] = blocks->at[k];
      i = k;
    }
  }
  blocks->at[i].address = 0;
}

bool blocks_take(Blocks *blocks, uintptr_t address, Block *taken) {
  if (!blocks->n)
    return false;
  uint32_t i = find(blocks, address);
  if (!blocks->at[i].address)
    return false;
  *taken = blocks->at[i];
  close_gap(blocks, i);
  blocks->n--;
  blocks_unwatch(address);
  return true;
}
