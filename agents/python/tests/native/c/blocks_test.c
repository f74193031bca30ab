/* Comparison of the block table with a trivial one over many random steps. */
#include "heap/blocks.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/dice.h"

enum { ADDRESSES = 6000, STEPS = 400000 };

static bool is_stored[ADDRESSES];
static uint64_t dice;

/* Many addresses share a slot of the filter and a home slot of the table. */
static uintptr_t address_of(int i) {
  return 0x7f0000000000u + (uintptr_t)(i % 1000) * 16 + (uintptr_t)(i / 1000) * (1 << 20);
}

static void step(Blocks *blocks, int i) {
  Block taken = {0};
  assert(!is_stored[i] || may_be_sampled((void *)address_of(i)));
  if (is_stored[i] || roll(&dice) & 1) {
    assert(blocks_take(blocks, address_of(i), &taken) == is_stored[i]);
    assert(!is_stored[i] || (taken.address == address_of(i) && taken.size == (size_t)i && taken.site == (uint32_t)i));
    is_stored[i] = false;
  } else {
    assert(blocks_add(blocks, &(Block){.address = address_of(i), .size = (size_t)i, .site = (uint32_t)i}));
    is_stored[i] = true;
  }
}

static void check_all(Blocks *blocks) {
  uint32_t n = 0;
  Block taken;
  for (int i = 0; i < ADDRESSES; i++)
    n += is_stored[i];
  assert(blocks->n == n && blocks->capacity >= 2 * n);
  for (int i = 0; i < ADDRESSES; i++)
    assert(blocks_take(blocks, address_of(i), &taken) == is_stored[i]);
  assert(blocks->n == 0);
}

static void test_it_knows_what_was_added_and_not_taken(void) {
  Blocks blocks;
  assert(blocks_open(&blocks));
  dice = dice_from(7);
  for (int n = 0; n < STEPS; n++)
    step(&blocks, (int)(roll(&dice) % ADDRESSES));
  check_all(&blocks);
  for (int i = 0; i < FILTER_SIZE; i++)
    assert(blocks_filter[i] == 0);
  blocks_close(&blocks);
}

static void test_a_filter_that_is_full_says_perhaps_for_ever(void) {
  Blocks blocks;
  Block taken;
  assert(blocks_open(&blocks));
  for (uintptr_t i = 1; i <= 300; i++)
    assert(blocks_add(&blocks, &(Block){.address = i << 20}));
  for (uintptr_t i = 1; i <= 300; i++) {
    assert(may_be_sampled((void *)(i << 20)));
    assert(blocks_take(&blocks, i << 20, &taken));
  }
  assert(may_be_sampled((void *)(uintptr_t)(1 << 20)));
  blocks_close(&blocks);
  assert(!may_be_sampled((void *)(uintptr_t)(1 << 20)));
}

static void test_a_full_table_rejects_blocks(void) {
  Blocks blocks;
  uintptr_t n = 0;
  assert(blocks_open(&blocks));
  while (blocks_add(&blocks, &(Block){.address = (n + 1) * 16}))
    n++;
  assert(n == BLOCKS_MAX / 2);
  blocks_close(&blocks);
}

int main(void) {
  test_it_knows_what_was_added_and_not_taken();
  test_a_filter_that_is_full_says_perhaps_for_ever();
  test_a_full_table_rejects_blocks();
  puts("right");
  return 0;
}
