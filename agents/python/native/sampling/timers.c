#include "sampling/timers.h"

#include <unistd.h>

#include "base/clocks.h"
#include "base/dice.h"

#ifndef sigev_notify_thread_id /* glibc before 2.36 does not define it */
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define OVERDUE_NS 10000000 /* more than two ticks of any kernel configuration */

static Timer timers[TIMERS_MAX];
static int signal_number;
static int64_t period, kernel_tick, shortest;

void timers_open(int signal, int64_t period_ns) {
  struct timespec tick = {0};
  signal_number = signal;
  period = period_ns;
  clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
  kernel_tick = tick.tv_sec * NS_PER_S + tick.tv_nsec;
  shortest = (period - (kernel_tick < period ? kernel_tick : period * 9 / 10)) / 2;
}

static void set_timer(Timer *timer, int64_t after_ns) {
  struct itimerspec when = {.it_value = timespec_of(after_ns)};
  timer_settime(timer->id, 0, &when, NULL);
}

/* The interval is about a period, measured to the arrival of the signal. The signal waits for
   the kernel's tick, half a tick on average, so the timer is set that much earlier. The random
   range is no wider than necessary to avoid lockstep with the host: sample values vary with the
   intervals, and so do the errors of shares. */
static int64_t next_interval(Timer *timer) { return shortest + roll_up_to(&timer->dice, period); }

static bool is_armed(pid_t thread) {
  for (int i = 0; i < TIMERS_MAX; i++)
    if (timers[i].thread == thread)
      return true;
  return false;
}

static Timer *free_timer(void) {
  for (int i = 0; i < TIMERS_MAX; i++)
    if (!timers[i].thread)
      return &timers[i];
  return NULL;
}

/* Draw an interval as seen at a random moment: its length varies as real ones do, and long
   intervals are met with a higher probability. */
static int64_t interval_met(Timer *timer, int64_t *late) {
  int64_t longest = shortest + period + kernel_tick, whole;
  do {
    *late = kernel_tick ? roll_up_to(&timer->dice, kernel_tick) : 0;
    whole = next_interval(timer) + *late;
  } while (roll_up_to(&timer->dice, longest) > whole);
  return whole;
}

/* Begin as if the thread had been sampled before, and were met at a random moment of an
   interval. The part of the interval that has passed counts for the first sample; on average it
   equals the time that a thread uses after its last sample, which is lost when it ends. So the
   sums are right for short-lived threads, too. A new thread may be past the moment of its first
   sample when it is found. */
static int64_t begin(Timer *timer, int64_t used_unseen) {
  int64_t late, whole = interval_met(timer, &late), passed = roll_up_to(&timer->dice, whole);
  int64_t ahead = whole - passed - used_unseen, so_far = passed + used_unseen;
  bool due = ahead <= 0;
  timer->bonus = due ? 0 : so_far;
  set_timer(timer, due ? next_interval(timer) : ahead > late ? ahead - late : 1);
  return due ? so_far : 0;
}

Armed timer_arm(pid_t thread, bool newborn, Timer **armed, int64_t *owed) {
  if (is_armed(thread))
    return ALREADY_ARMED;
  Timer *timer = free_timer();
  if (!timer)
    return NOT_ARMED;
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signal_number};
  event.sigev_value.sival_ptr = timer;
  event.sigev_notify_thread_id = thread;
  if (timer_create(thread_cpu_clock(thread), &event, &timer->id))
    return NOT_ARMED;
  timer->dice = dice_from((uint64_t)thread ^ (uint64_t)monotonic_ns());
  timer->last = clock_ns(thread_cpu_clock(thread));
  timer->looked_at = timer->last;
  timer->thread = thread;
  *owed = begin(timer, newborn && timer->last > 0 ? timer->last : 0);
  *armed = timer;
  return ARMED;
}

void timer_release(Timer *timer) {
  timer_delete(timer->id);
  timer->thread = 0;
}

void timers_release_all(void) {
  for (int i = 0; i < TIMERS_MAX; i++)
    if (timers[i].thread)
      timer_release(&timers[i]);
}

void timers_forget(void) {
  for (int i = 0; i < TIMERS_MAX; i++)
    timers[i].thread = 0;
}

Timer *timer_of(const siginfo_t *info) {
  uintptr_t at = (uintptr_t)info->si_value.sival_ptr, first = (uintptr_t)timers;
  bool ours = info->si_code == SI_TIMER && at >= first && at < first + sizeof timers;
  return ours && (at - first) % sizeof(Timer) == 0 ? (Timer *)at : NULL;
}

/* Return the time since the last sample, whether the thread itself or the sampler took it. */
static int64_t claim(Timer *timer, int64_t now) {
  int64_t value = now - atomic_exchange(&timer->last, now) + atomic_exchange(&timer->bonus, 0);
  return value > 0 ? value : 0; /* the other side read the clock later */
}

/* Kernels check CPU timers on their tick, so signals are late; the thread's clock tells how much
   CPU time it really used since the last sample. */
int64_t timer_next(Timer *timer) {
  int64_t now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  int64_t value = claim(timer, now);
  set_timer(timer, next_interval(timer));
  return value;
}

int64_t timer_overdue(Timer *timer) {
  int64_t now = clock_ns(thread_cpu_clock(timer->thread));
  bool moved = now > timer->looked_at; /* else it sleeps, and not where it used the time */
  timer->looked_at = now;
  return moved && now - timer->last > 4 * period + OVERDUE_NS ? claim(timer, now) : 0;
}
