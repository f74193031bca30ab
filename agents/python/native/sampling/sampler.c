#include "sampling/sampler.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/clocks.h"
#include "base/dice.h"
#include "base/futex.h"
#include "sampling/interrupts.h"
#include "sampling/promptness.h"
#include "sampling/threads.h"
#include "sampling/wall.h"

#define STACK_BYTES (256 << 10)
#define STOP_WITHIN_NS NS_PER_S
#define TICKS_A_LOOK 4
#define BUSY_SHARE 20 /* slower ticks, over 1/20 of the time, become less frequent */

static pthread_t thread;
static atomic_int stopping, stopped;
static Threads threads;
static Walk *walk;
static Arena walk_memory;

/* Take a CPU sample from outside, which is counted: the thread may run while it is read. */
static void sample_overdue(Capture *capture, const Thread *t, int64_t value) {
  capture->counts.overdue++;
  sample_thread(capture, t, walk, value);
}

static void arm(Capture *capture, Thread *t) {
  int64_t owed = 0;
  if (t->timer || t->has_no_timer || !t->id || is_excluded(capture, t->id))
    return;
  if (timer_arm(t->id, t->newborn, &t->timer, &owed) == NOT_ARMED) {
    t->has_no_timer = true;
    capture->counts.unarmed++;
  }
  if (owed)
    sample_overdue(capture, t, owed);
}

static void take_overdue(Capture *capture, const Thread *t) {
  int64_t value = t->timer ? timer_overdue(t->timer) : 0;
  if (value > 0)
    sample_overdue(capture, t, value);
}

static void cpu_tick(Capture *capture) {
  if (capture->counts.signal_taken)
    return;
  if (interrupts_taken_over()) { /* the host's handler would get the sampler's signals */
    timers_release_all();
    capture->counts.signal_taken = 1;
    return;
  }
  if (threads_update(&threads, false))
    for (int i = 0; i < threads.n; i++)
      arm(capture, &threads.now[i]);
  if (capture->counts.ticks % TICKS_A_LOOK == 0) /* a system call for each thread */
    for (int i = 0; i < threads.n; i++)
      take_overdue(capture, &threads.now[i]);
  interrupts_drain(capture);
}

static void tick(Capture *capture, int max_threads) {
  capture->counts.ticks++;
  if (capture->options.kind == KIND_CPU)
    cpu_tick(capture);
  else
    wall_tick(capture, &threads, walk, max_threads);
}

/* Return a random time between 0.5 and 1.5 periods after the last tick, or later if ticks take
   long. */
static int64_t next_tick(const Capture *capture, uint64_t *dice, int64_t began, int64_t ended) {
  int64_t at = began + capture->options.period_ns / 2 + roll_up_to(dice, capture->options.period_ns);
  int64_t rested = ended + (ended - began) * (BUSY_SHARE - 1);
  return at > rested ? at : rested;
}

static void *run(void *argument) {
  Capture *capture = argument;
  uint64_t dice = dice_from((uint64_t)capture->started_ns);
  prctl(PR_SET_NAME, "flamewatch", 0, 0, 0);
  ask_for_short_slices();
  while (!stopping) {
    int64_t began = monotonic_ns();
    tick(capture, capture->options.max_threads);
    futex_wait_until(&stopping, 0, next_tick(capture, &dice, began, monotonic_ns()));
  }
  capture->ended_ns = monotonic_ns();
  if (capture->options.kind == KIND_CPU)
    interrupts_close(capture);
  else
    tick(capture, THREADS_MAX); /* so that every thread's values add up to the capture's duration */
  capture->sampler_cpu_ns += own_cpu_ns();
  stopped = 1;
  futex_wake(&stopped);
  return NULL;
}

static const char *spawn(Capture *capture) {
  sigset_t all, before;
  pthread_attr_t attributes;
  sigfillset(&all);
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* inherited: the host's signals go elsewhere */
  int failed = pthread_create(&thread, &attributes, run, capture);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return failed ? "no thread could be started" : NULL;
}

static void close_all(Capture *capture) {
  capture_close(capture);
  threads_close(&threads);
  arena_close(&walk_memory);
}

static bool open_memory(Capture *capture, const Options *options) {
  if (!capture_open(capture, options))
    return false;
  if (arena_open(&walk_memory, walk_bytes(options->max_depth) + 64) && threads_open(&threads, capture->started_ns)) {
    walk = arena_take(&walk_memory, walk_bytes(options->max_depth));
    walk->max_depth = options->max_depth;
    return true;
  }
  close_all(capture);
  return false;
}

static const char *begin(Capture *capture) {
  if (capture->options.kind == KIND_THREADS) {
    look_at_all(capture, &threads, walk);
    capture->ended_ns = monotonic_ns();
    return NULL;
  }
  if (capture->options.kind == KIND_CPU && !interrupts_open(&capture->options))
    return "the signal for CPU samples could not be set up";
  if (capture->options.kind == KIND_CPU)
    cpu_tick(capture); /* timers run from now on, not from when the new thread gets a core */
  const char *problem = spawn(capture);
  if (problem && capture->options.kind == KIND_CPU)
    interrupts_close(capture);
  return problem;
}

const char *sampler_start(Capture *capture, const Options *options) {
  if (!open_memory(capture, options))
    return "there is no memory for the capture's tables";
  stopping = stopped = 0;
  const char *problem = begin(capture);
  if (problem)
    close_all(capture);
  return problem;
}

bool sampler_stop(Capture *capture) {
  if (capture->options.kind != KIND_THREADS) {
    int64_t deadline = monotonic_ns() + STOP_WITHIN_NS;
    stopping = 1;
    futex_wake(&stopping);
    while (!stopped && monotonic_ns() < deadline)
      futex_wait_until(&stopped, 0, deadline);
    if (!stopped) {
      pthread_detach(thread);
      return false;
    }
    pthread_join(thread, NULL);
  }
  capture->memory_bytes += threads_bytes(&threads) + walk_memory.used;
  threads_close(&threads);
  arena_close(&walk_memory);
  return true;
}

void sampler_forget(Capture *capture) {
  interrupts_forget();
  close_all(capture);
  stopping = stopped = 0;
}
