/* Sampling budget that costs the host a bounded share of a core, whatever the number of events.

   The budget is a token bucket that is refilled at a constant rate, so that a burst is sampled
   finely. As it runs low, the mean distance between samples grows a little with each sample: a
   host under constant load is sampled about as often as the bucket is refilled. Each sample is
   weighted by the distance with which it was drawn, so sums are unbiased. */
#ifndef FLAMEWATCH_BUDGET_H
#define FLAMEWATCH_BUDGET_H

#include <math.h>
#include <stdint.h>

#include "base/clocks.h"

#define PURSE_SECONDS 4      /* seconds of samples in a full bucket */
#define STRETCH_DOUBLINGS 20 /* doublings of the distance when it is empty */

typedef struct Budget {
  int64_t at;
  double per_ns, full, left; /* samples */
} Budget;

static inline Budget budget_from(int64_t now, int samples_per_second) {
  double full = (double)samples_per_second * PURSE_SECONDS;
  return (Budget){now, samples_per_second / (double)NS_PER_S, full, full};
}

/* Spend `taken` samples (0 to 1) at time `now`. Return the factor for the mean distance from now
   on. */
static inline double budget_spend(Budget *budget, int64_t now, double taken) {
  double left = budget->left + (double)(now - budget->at) * budget->per_ns;
  budget->left = fmax((left < budget->full ? left : budget->full) - taken, 0);
  budget->at = now;
  double lack = 1 - budget->left / (budget->full / 2); /* none while it is at least half full */
  return lack > 0 ? exp2(lack * STRETCH_DOUBLINGS) : 1;
}

#endif
