#include "wall.h"

#include "clocks.h"
#include "context.h"

#define ATTEMPTS 4 /* at reading the stack of a running thread */

/* The state is read again: since the list was, the thread may have got far. */
static Walked walk_thread(uintptr_t ts, Walk *walk) {
  Walked walked = WALK_TORN;
  for (int attempt = 0; walked == WALK_TORN && attempt < ATTEMPTS; attempt++)
    walked = walk_read_state(walk, ts) ? walk_frames(walk) : WALK_TORN;
  context_read(walk);
  return walked;
}

Stack *sample_thread(Capture *capture, const Thread *thread, Walk *walk, int64_t value) {
  return record(capture, walk, walk_thread(thread->ts, walk), thread->id, value);
}

static void visit(Capture *capture, Thread *thread, int64_t now, Walk *walk) {
  int64_t cpu = clock_ns(thread_cpu_clock(thread->id));
  int64_t value = now - thread->since;
  if (cpu < 0 || value <= 0)
    return; /* it ended since the list was read */
  thread->since = now;
  if (thread->last && cpu == thread->cpu) {
    capture->counts.reused++;
    record_again(capture, thread->last, value);
    return;
  }
  thread->last = sample_thread(capture, thread, walk, value);
  thread->cpu = cpu;
}

void wall_tick(Capture *capture, Threads *threads, Walk *walk, int max_threads) {
  static int turn;
  if (!threads_update(threads, false))
    return;
  int visits = threads->n < max_threads ? threads->n : max_threads;
  for (int k = 0; k < visits; k++) {
    turn = (turn + 1) % threads->n;
    Thread *thread = &threads->now[turn];
    if (thread->id && !is_excluded(capture, thread->id))
      visit(capture, thread, threads->checked_ns, walk);
  }
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
