#include "heap/heap.h"

#include <Python.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>

#include "base/budget.h"
#include "base/dice.h"
#include "interpreter/walk.h"

#define FAR_AWAY (1 << 20) /* bytes after which a thread that isn't counted checks again */
#define LEG (4 << 20)      /* bytes after which a thread checks whether the mean has changed */
#define TIDY_AFTER 1000    /* samples until the next tidy() if the last one freed little */

__thread Countdown countdown __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool counting;
static atomic_uint run; /* number of times that counting has begun */
static _Atomic double mean;
static HeapOptions options;
static Budget budget;
static Sites sites;
static Blocks blocks;
static HeapCounts counts, counts_at_mark;
static int64_t spent_told_ns; /* part of counts.spent_ns that earlier views reported */
static Arena walk_memory;
static Walk *walk;
static uint32_t interval;
static bool interval_open;  /* a later heap_view() will report the interval */
static uint32_t generation; /* changes whenever sites get new indexes */
static int64_t since_unix_ns, began_unix_ns, began_ns, not_before;
static void *(*current_thread_state)(void);

static void find_thread_state_getter(void) {
  *(void **)&current_thread_state = dlsym(RTLD_DEFAULT, "PyThreadState_GetUnchecked");
  if (!current_thread_state)
    *(void **)&current_thread_state = dlsym(RTLD_DEFAULT, "_PyThreadState_UncheckedGet");
}

static void close_tables(void) {
  sites_close(&sites);
  blocks_close(&blocks);
  arena_close(&walk_memory);
}

static bool open_tables(void) {
  if (sites_open(&sites, options.max_bytes) && blocks_open(&blocks) &&
      arena_open(&walk_memory, walk_bytes(options.max_depth) + 64)) {
    walk = arena_take(&walk_memory, walk_bytes(options.max_depth));
    walk->max_depth = options.max_depth;
    return true;
  }
  close_tables();
  return false;
}

static bool begin(void) {
  if (!open_tables())
    return false;
  counts = counts_at_mark = (HeapCounts){0};
  spent_told_ns = 0;
  mean = options.mean_bytes;
  since_unix_ns = began_unix_ns = clock_ns(CLOCK_REALTIME);
  budget = budget_from(began_ns = monotonic_ns(), options.samples_per_second);
  interval = not_before = 0;
  interval_open = false;
  generation++;
  run++;
  return counting = true;
}

bool heap_open(const HeapOptions *new_options) {
  if (!current_thread_state)
    find_thread_state_getter();
  if (!current_thread_state)
    return false;
  pthread_mutex_lock(&lock);
  counting = false;
  close_tables();
  options = *new_options;
  bool begun = begin();
  countdown.left = 0; /* this thread, at least, need not use up an old countdown first */
  pthread_mutex_unlock(&lock);
  return begun;
}

void heap_close(void) {
  pthread_mutex_lock(&lock);
  counting = false;
  close_tables();
  pthread_mutex_unlock(&lock);
}

bool heap_is_open(void) { return counting; }

/* The distribution is exponential and so memoryless: a long distance may be cut into legs, each
   of which is drawn anew. */
static int64_t draw(Countdown *c) {
  double u = (double)((roll(&c->dice) >> 11) + 1) * 0x1p-53; /* (0, 1] */
  c->mean = mean;
  double bytes = -log(u) * c->mean;
  c->leg = bytes > LEG;
  return c->leg ? LEG : (int64_t)bytes;
}

static void spend(int64_t now, int taken) { mean = options.mean_bytes * budget_spend(&budget, now, taken); }

static void next_leg(Countdown *c) {
  if (mean > options.mean_bytes) {
    pthread_mutex_lock(&lock);
    spend(monotonic_ns(), 0);
    pthread_mutex_unlock(&lock);
  }
  c->left += draw(c);
}

/* Return whether the request reached a sample. If the countdown belongs to an earlier run, or
   the thread is new, the distance begins with this request. */
static bool is_due(Countdown *c, size_t n) {
  if (!counting || c->apart) {
    c->left = FAR_AWAY;
    return false;
  }
  if (c->run != run) {
    c->run = run;
    c->dice = dice_from((uint64_t)monotonic_ns() ^ (uint64_t)(uintptr_t)c);
    c->left = draw(c) - (int64_t)n;
  }
  while (c->left < 0 && c->leg)
    next_leg(c);
  return c->left < 0;
}

static Walked walk_here(bool gil) {
  uintptr_t ts = (uintptr_t)(gil ? current_thread_state() : (void *)PyGILState_GetThisThreadState());
  walk->depth = 0;
  walk->cut = false;
  if (!ts)
    return WALK_EMPTY;
  return walk_read_state(walk, ts) ? walk_frames(walk) : WALK_TORN;
}

static bool is_foreign(void) {
  return walk->depth && state_field(walk->state, python.offsets.ts_interp) != python.self;
}

static bool is_in_use(const Site *site) { return site->ever.used_samples || (interval_open && site->interval.samples); }

static void move_blocks(const uint32_t *moved) {
  for (uint32_t i = 0; i < blocks.capacity; i++)
    if (blocks.at[i].address)
      blocks.at[i].site = moved[blocks.at[i].site];
}

/* Make room by evicting sites of which nothing is in use. */
static bool tidy(void) {
  static uint32_t moved[SITES_MAX];
  Sites remaining;
  if (not_before > counts.samples + counts.table_full || !sites_copy(&remaining, &sites, is_in_use, moved))
    return false;
  if (remaining.arena.used > remaining.arena.size / 4 * 3 || remaining.stacks.n > SITES_MAX / 4 * 3)
    not_before = counts.samples + counts.table_full + TIDY_AFTER;
  counts.forgotten += sites.stacks.n - remaining.stacks.n;
  move_blocks(moved);
  sites_close(&sites);
  sites = remaining;
  generation++;
  return true;
}

static int64_t find_site(void) {
  int64_t site = site_find(&sites, walk);
  return site < 0 && tidy() ? site_find(&sites, walk) : site;
}

static void drop(int64_t *reason, double bytes) {
  ++*reason;
  counts.lost += (int64_t)bytes;
}

static void uncount(const Block *block) {
  Site *site = &sites.at[block->site];
  totals_freed(&site->ever, block->weight, block->size);
  if (block->interval == interval)
    totals_freed(&site->interval, block->weight, block->size);
}

/* A block already recorded at this address was freed without passing the hooks. */
static void forget_stale(uintptr_t address) {
  Block stale;
  if (may_be_sampled((void *)address) && blocks_take(&blocks, address, &stale))
    uncount(&stale);
}

static void count(const Block *block) {
  Site *site = &sites.at[block->site];
  forget_stale(block->address);
  if (!blocks_add(&blocks, block)) {
    drop(&counts.table_full, block->weight * (double)block->size);
    return;
  }
  counts.samples++;
  counts.cut += walk->cut;
  totals_add(&site->ever, block->weight, block->size);
  totals_add(&site->interval, block->weight, block->size);
}

static void record_block(void *address, size_t n, double weight, bool gil) {
  int64_t began = own_cpu_ns();
  Walked walked = walk_here(gil);
  double bytes = weight * (double)n;
  if (walked == WALK_TORN) {
    drop(&counts.torn, bytes);
  } else if (is_foreign()) {
    drop(&counts.foreign, bytes);
  } else {
    int64_t site = find_site();
    if (site < 0)
      drop(&counts.table_full, bytes);
    else
      count(&(Block){(uintptr_t)address, n, weight, (uint32_t)site, interval});
  }
  spend(monotonic_ns(), 1);
  counts.spent_ns += own_cpu_ns() - began;
}

void heap_sample(void *block, size_t n, bool gil) {
  Countdown *c = &countdown;
  if (!is_due(c, n))
    return;
  double weight = -1 / expm1(-(double)n / c->mean);
  pthread_mutex_lock(&lock);
  if (counting)
    record_block(block, n, weight, gil);
  pthread_mutex_unlock(&lock);
  c->left = draw(c);
}

bool heap_take(void *block, Taken *taken) {
  pthread_mutex_lock(&lock);
  bool was_sampled = blocks_take(&blocks, (uintptr_t)block, &taken->block);
  if (was_sampled)
    uncount(&taken->block);
  taken->generation = generation;
  pthread_mutex_unlock(&lock);
  return was_sampled;
}

void heap_put_back(const Taken *taken) {
  const Block *block = &taken->block;
  pthread_mutex_lock(&lock);
  if (counting && taken->generation == generation && blocks_add(&blocks, block)) {
    Site *site = &sites.at[block->site];
    totals_used(&site->ever, block->weight, block->size);
    if (block->interval == interval)
      totals_used(&site->interval, block->weight, block->size);
  }
  pthread_mutex_unlock(&lock);
}

void heap_mark(void) {
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < sites.stacks.n; i++)
    sites.at[i].interval = (Totals){0};
  interval++;
  interval_open = true;
  mean = options.mean_bytes;
  counts_at_mark = counts;
  began_unix_ns = clock_ns(CLOCK_REALTIME);
  budget = budget_from(began_ns = monotonic_ns(), options.samples_per_second);
  pthread_mutex_unlock(&lock);
}

static bool was_ever(const Site *site) { return site->ever.samples; }

static bool was_in_interval(const Site *site) { return site->interval.samples; }

static HeapCounts counts_since_mark(void) {
  const HeapCounts *was = &counts_at_mark;
  return (HeapCounts){counts.samples - was->samples, counts.torn - was->torn,
                      counts.foreign - was->foreign, counts.table_full - was->table_full,
                      counts.cut - was->cut,         counts.forgotten - was->forgotten,
                      counts.lost - was->lost,       0};
}

bool heap_view(HeapView *view, bool of_interval) {
  pthread_mutex_lock(&lock);
  view->counts = of_interval ? counts_since_mark() : counts;
  view->counts.spent_ns = counts.spent_ns - spent_told_ns;
  spent_told_ns = counts.spent_ns;
  view->mean_bytes = options.mean_bytes;
  interval_open = interval_open && !of_interval;
  view->since_unix_ns = since_unix_ns;
  view->began_unix_ns = of_interval ? began_unix_ns : clock_ns(CLOCK_REALTIME);
  view->duration_ns = of_interval ? monotonic_ns() - began_ns : 0;
  view->memory =
      sites.arena.used + sites.stacks.n * sizeof(Site) + blocks.capacity * sizeof(Block) + sizeof blocks_filter;
  bool copied = counting && sites_copy(&view->sites, &sites, of_interval ? was_in_interval : was_ever, NULL);
  pthread_mutex_unlock(&lock);
  return copied;
}

void heap_before_fork(void) { pthread_mutex_lock(&lock); }

void heap_after_fork_in_parent(void) { pthread_mutex_unlock(&lock); }

void heap_after_fork_in_child(void) {
  if (counting) {
    counting = false;
    close_tables();
    begin();
  }
  pthread_mutex_unlock(&lock);
}
