/* Random numbers (xorshift64) for sampling periods: a fixed period could run in lockstep with a
   periodic host. */
#ifndef FLAMEWATCH_DICE_H
#define FLAMEWATCH_DICE_H

#include <stdint.h>

static inline uint64_t roll(uint64_t *state) {
  uint64_t x = *state;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return *state = x;
}

static inline uint64_t dice_from(uint64_t seed) { return seed * 0x9E3779B97F4A7C15ULL | 1; }

/* Uniform in [1, n]. */
static inline int64_t roll_up_to(uint64_t *state, int64_t n) { return 1 + (int64_t)(roll(state) % (uint64_t)n); }

#endif
