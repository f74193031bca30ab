#include "sampling/wall.h"

#include "base/clocks.h"
#include "interpreter/context.h"
#include "interpreter/gil.h"
#include "interpreter/tasks.h"
#include "interpreter/walk.h"

#define ATTEMPTS 12 /* at the stack of a running thread that holds the GIL */
/* Reading a sleeping thread's clock takes two microseconds, mostly for cache misses. So threads
   that have slept for long are checked at every fourth tick only, and that tick counts for four:
   a burst of work is found with a quarter of the probability and four times the weight. */
#define LONG_ASLEEP_NS 500000000
#define TICKS_A_LOOK 4
#define SAME_WAIT 32 /* a wait for the GIL takes less than 1/32 of its time on a core */

/* The state is read again, because the thread may have advanced since the list was read. Return
   false if the labels changed while the stack was read, so that the two do not belong together. */
static bool walk_once(uintptr_t ts, Walk *walk, Walked *walked) {
  *walked = WALK_TORN;
  if (!walk_read_state(walk, ts))
    return false;
  context_read(walk);
  *walked = walk_frames(walk);
  bool stayed = context_stayed(walk);
  tasks_name(walk);
  return stayed;
}

static Walked walk_thread(uintptr_t ts, Walk *walk) {
  Walked walked = WALK_TORN;
  bool together = false;
  for (int attempt = 0; (walked == WALK_TORN || !together) && attempt < ATTEMPTS; attempt++)
    together = walk_once(ts, walk, &walked);
  return walked;
}

Stack *sample_thread(Capture *capture, const Thread *thread, Walk *walk, int64_t value) {
  return record(capture, walk, walk_thread(thread->ts, walk), thread->id, value);
}

/* One round over the threads. */
typedef struct Tick {
  Capture *capture;
  Walk *walk;
  int64_t now;
  bool gil_in_use; /* else no thread can be waiting for it */
} Tick;

static bool waits_for_gil(const Tick *tick, const Thread *thread, int64_t passed, int64_t used) {
  GilWait wait = tick->gil_in_use ? gil_look(thread->id, thread->ts) : GIL_NOT_AWAITED;
  if (wait == GIL_UNCLEAR) /* still the same wait if it used next to no CPU time since the last tick */
    return thread->last && thread->last->waits_for_gil && used < passed / SAME_WAIT;
  return wait == GIL_AWAITED;
}

static Stack *sample_wall(const Tick *tick, const Thread *thread, int64_t value, int64_t cpu) {
  Walked walked = walk_thread(thread->ts, tick->walk);
  bool waits = waits_for_gil(tick, thread, value, cpu - thread->cpu);
  tick->walk->waits_for_gil = waits;
  tick->capture->counts.gil_waits += waits;
  return record(tick->capture, tick->walk, walked, thread->id, value);
}

static void visit(const Tick *tick, Thread *thread) {
  int64_t cpu = clock_ns(thread_cpu_clock(thread->id));
  int64_t value = tick->now - thread->since;
  if (cpu < 0 || value <= 0)
    return; /* the thread ended after the list was read */
  thread->since = tick->now;
  if (thread->last && cpu == thread->cpu) {
    tick->capture->counts.reused++;
    record_again(tick->capture, thread->last, value);
    return;
  }
  thread->last = sample_wall(tick, thread, value, cpu);
  thread->cpu = cpu;
  thread->moved = tick->now;
}

static bool has_its_turn(const Thread *thread, int64_t now, int64_t tick) {
  return now - thread->moved < LONG_ASLEEP_NS || (thread->id + tick) % TICKS_A_LOOK == 0;
}

void wall_tick(Capture *capture, Threads *threads, Walk *walk, int max_threads) {
  static int turn;
  if (!threads_update(threads, false))
    return;
  int visits = threads->n < max_threads ? threads->n : max_threads;
  bool everyone = max_threads >= THREADS_MAX;
  int64_t waits = capture->counts.gil_waits;
  /* Between two holders the GIL is free for some microseconds, while others still wait. */
  Tick tick = {capture, walk, threads->checked_ns, threads->gil_awaited || gil_is_taken()};
  for (int k = 0; k < visits; k++) {
    turn = (turn + 1) % threads->n;
    Thread *thread = &threads->now[turn];
    if (thread->id && !is_excluded(capture, thread->id) &&
        (everyone || has_its_turn(thread, tick.now, capture->counts.ticks)))
      visit(&tick, thread);
  }
  threads->gil_awaited = capture->counts.gil_waits > waits;
}

void look_at_all(Capture *capture, Threads *threads, Walk *walk) {
  if (!threads_update(threads, true))
    return;
  for (int i = 0; i < threads->n; i++) {
    const Thread *thread = &threads->now[i];
    if (thread->id && !is_excluded(capture, thread->id))
      sample_thread(capture, thread, walk, 1);
  }
}
