#include "contention/lock_waits.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/dice.h"
#include "interpreter/context.h"
#include "interpreter/tasks.h"
#include "interpreter/walk.h"

#define WAITS_MAX 1024 /* concurrent waits; further ones are not counted */
#define SAMPLES_PER_SECOND 500
#define IDLE_COST 0.125 /* in samples: the two frames that identify a wait for work take 2 µs */

typedef struct Wait {
  Stack *stack; /* NULL: the slot is free */
  int64_t began;
  double stands_for; /* number of waits that the sample represents */
} Wait;

static Capture *capture; /* NULL: no capture is running */
static uint32_t run;     /* number of the capture */
static Wait waits[WAITS_MAX];
static int last;
static Arena walk_memory;
static Walk *walk;
static Budget budget;
static double distance; /* one in so many waits is sampled, and weighted by this number */
static uint64_t dice;

static bool is_chosen(void) { return distance <= 1 || (double)(roll(&dice) >> 11) * 0x1p-53 * distance < 1; }

static int free_wait_index(void) {
  for (int i = 0; i < WAITS_MAX; i++) {
    last = (last + 1) % WAITS_MAX;
    if (!waits[last].stack)
      return last;
  }
  return -1;
}

static Walked walk_here(int max_depth) {
  walk->depth = walk->label_n = 0;
  walk->cut = false;
  walk->max_depth = max_depth;
  return walk_read_state(walk, (uintptr_t)PyThreadState_Get()) ? walk_frames(walk) : WALK_TORN;
}

/* Return whether the thread waits for work, and not for a lock that another thread holds. */
static bool is_idle(void) {
  const Options *options = &capture->options;
  if (!options->idle_n || walk_here(2) != WALK_OK)
    return false;
  uintptr_t inner = walk->positions[0].code, outer = walk->depth > 1 ? walk->positions[1].code : 0;
  for (int i = 0; i < options->idle_n; i++)
    if (options->idle[i].inner == inner && (!options->idle[i].outer || options->idle[i].outer == outer))
      return true;
  return false;
}

static Walked walk_all(void) {
  Walked walked = walk_here(capture->options.max_depth);
  if (walked == WALK_OK) {
    context_read(walk);
    tasks_name(walk);
  }
  return walked;
}

static bool is_ours(void) { return (uintptr_t)PyInterpreterState_Get() == python.self; }

void count_try(void) {
  if (capture && is_ours())
    capture->counts.tried++;
}

static void begin_at(int index, pid_t thread, int64_t now) {
  Walked walked = walk_all();
  waits[index] = (Wait){find_stack(capture, walk, walked, thread, 0), now, distance};
}

Waiting wait_begins(void) {
  Waiting none = {-1, run};
  if (!capture || !is_ours() || !is_chosen())
    return none;
  pid_t thread = (pid_t)syscall(SYS_gettid);
  int64_t now = monotonic_ns(), used = own_cpu_ns();
  int index = is_excluded(capture, thread) ? -1 : free_wait_index();
  if (index < 0)
    return none;
  bool idle = is_idle();
  if (idle)
    capture->counts.idle++;
  else
    begin_at(index, thread, now);
  distance = budget_spend(&budget, now, idle ? IDLE_COST : 1);
  capture->sampler_cpu_ns += own_cpu_ns() - used;
  return (Waiting){waits[index].stack ? index : -1, run};
}

static void count(Wait *wait, int64_t now) {
  Stack *stack = wait->stack;
  int64_t value = (int64_t)((double)(now - wait->began) * wait->stands_for);
  record_many(capture, stack, (int64_t)(wait->stands_for + 0.5), value);
  wait->stack = NULL;
}

void wait_ends(Waiting waiting) {
  if (waiting.index >= 0 && waiting.run == run && capture)
    count(&waits[waiting.index], monotonic_ns());
}

static bool open_memory(Capture *opened, const Options *options) {
  if (!capture_open(opened, options))
    return false;
  if (!arena_open(&walk_memory, walk_bytes(options->max_depth) + 64)) {
    capture_close(opened);
    return false;
  }
  walk = arena_take(&walk_memory, walk_bytes(options->max_depth));
  walk->max_depth = options->max_depth;
  return true;
}

bool lock_waits_open(Capture *opened, const Options *options) {
  if (!open_memory(opened, options))
    return false;
  run++;
  distance = 1;
  dice = dice_from((uint64_t)opened->started_ns);
  budget = budget_from(opened->started_ns, SAMPLES_PER_SECOND);
  memset(waits, 0, sizeof waits);
  capture = opened;
  return true;
}

void lock_waits_end(void) {
  capture->ended_ns = monotonic_ns();
  for (int i = 0; i < WAITS_MAX; i++)
    if (waits[i].stack)
      count(&waits[i], capture->ended_ns);
}

void lock_waits_close(void) {
  capture = NULL;
  arena_close(&walk_memory);
}
