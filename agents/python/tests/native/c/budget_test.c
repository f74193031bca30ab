/* Sampling rate of a budget: every event of a quiet host, the refill rate of the bucket for a
   busy one. */
#include "base/budget.h"

#include <assert.h>
#include <stdio.h>

enum { PER_SECOND = 500 };

/* Events come every `every` nanoseconds; one in `distance` is a sample. */
static double samples_in_a_second(Budget *budget, int64_t *now, double every) {
  double distance = 1, wait = 0, samples = 0;
  for (int64_t end = *now + NS_PER_S; *now < end; *now += (int64_t)wait) {
    distance = budget_spend(budget, *now, 1);
    wait = distance * every;
    samples++;
  }
  return samples;
}

static void test_a_quiet_host_is_sampled_at_each_event(void) {
  int64_t now = 1000;
  Budget budget = budget_from(now, PER_SECOND);
  for (int i = 0; i < 20; i++)
    assert(samples_in_a_second(&budget, &now, NS_PER_S / 400) >= 399);
}

static void test_a_burst_is_seen_finely(void) {
  Budget budget = budget_from(0, PER_SECOND);
  for (int i = 0; i < PER_SECOND; i++)
    assert(budget_spend(&budget, i, 1) == 1);
}

static void test_a_host_that_never_rests_costs_no_more_than_the_refill(void) {
  int64_t now = 0;
  Budget budget = budget_from(now, PER_SECOND);
  for (int i = 0; i < 10; i++)
    samples_in_a_second(&budget, &now, 10);
  double samples = samples_in_a_second(&budget, &now, 10);
  assert(samples > 0.9 * PER_SECOND && samples < 1.1 * PER_SECOND);
}

static void test_rest_fills_the_purse_again(void) {
  int64_t now = 0;
  Budget budget = budget_from(now, PER_SECOND);
  samples_in_a_second(&budget, &now, 10);
  assert(budget_spend(&budget, now, 1) > 1);
  assert(budget_spend(&budget, now + PURSE_SECONDS * NS_PER_S, 0) == 1);
}

int main(void) {
  test_a_quiet_host_is_sampled_at_each_event();
  test_a_burst_is_seen_finely();
  test_a_host_that_never_rests_costs_no_more_than_the_refill();
  test_rest_fills_the_purse_again();
  puts("right");
  return 0;
}
