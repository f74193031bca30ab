/* Sampling that costs its host a bounded part of a core, however much there is to sample.

   Samples are paid from a purse that is refilled at a steady rate, so that a burst is seen finely.
   As it runs low, the mean distance between samples grows, a little with each: a host that never
   rests is sampled about as often as the purse is refilled. Each sample is weighted by the distance
   that it was drawn with, so sums stay true. */
#ifndef FLAMEWATCH_BUDGET_H
#define FLAMEWATCH_BUDGET_H

#include <math.h>
#include <stdint.h>

#include "clocks.h"

#define PURSE_SECONDS 4      /* of samples are in a full purse */
#define STRETCH_DOUBLINGS 20 /* of the distance, when it is empty */

typedef struct Budget {
  int64_t at;
  double per_ns, full, left; /* samples */
} Budget;

static inline Budget budget_from(int64_t now, int samples_per_second) {
  double full = (double)samples_per_second * PURSE_SECONDS;
  return (Budget){now, samples_per_second / (double)NS_PER_S, full, full};
}

/* `taken` samples more by `now` (0 to 1): how many times longer the distance is from here on. */
static inline double budget_spend(Budget *budget, int64_t now, double taken) {
  double left = budget->left + (double)(now - budget->at) * budget->per_ns;
  budget->left = fmax((left < budget->full ? left : budget->full) - taken, 0);
  budget->at = now;
  double lack = 1 - budget->left / (budget->full / 2); /* nothing, while it is half full */
  return lack > 0 ? exp2(lack * STRETCH_DOUBLINGS) : 1;
}

#endif
