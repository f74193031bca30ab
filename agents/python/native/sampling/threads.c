#include "sampling/threads.h"

#include <string.h>

#include "base/clocks.h"
#include "interpreter/peek.h"
#include "interpreter/positions.h"

#define INDEX_SIZE (2 * THREADS_MAX)
#define AT_ONCE 128
#define LIST_AGE_NS 50000000

bool threads_open(Threads *threads, int64_t now) {
  size_t stride = ((size_t)thread_state_bytes(&python.offsets) + 7) & ~(size_t)7;
  size_t records = THREADS_MAX * sizeof(Thread), index = INDEX_SIZE * sizeof(uint16_t);
  *threads = (Threads){.stride = stride, .checked_ns = now};
  if (!arena_open(&threads->arena, 2 * records + index + THREADS_MAX * stride + 64))
    return false;
  threads->now = arena_take(&threads->arena, records);
  threads->spare = arena_take(&threads->arena, records);
  threads->index = arena_take(&threads->arena, index);
  threads->states = arena_take(&threads->arena, THREADS_MAX * stride);
  return true;
}

void threads_close(Threads *threads) { arena_close(&threads->arena); }

size_t threads_bytes(const Threads *threads) {
  return INDEX_SIZE * sizeof(uint16_t) + (size_t)threads->n * (2 * sizeof(Thread) + threads->stride);
}

static uintptr_t head_of_list(void) { return python.self + (uintptr_t)python.offsets.interp_threads; }

static bool read_first(uintptr_t *first) { return peek(first, head_of_list(), sizeof *first); }

static pid_t native_id(const char *state) { return (pid_t)state_field(state, python.offsets.ts_native_id); }

/* New threads are inserted at the head of the list. A new one often reuses the address of a
   first thread that has just ended, but never its native id. */
static bool nobody_came(const Threads *threads) {
  uintptr_t first;
  if (!threads->n || threads->unsettled)
    return false;
  size_t size = (size_t)thread_state_bytes(&python.offsets);
  struct iovec to[2] = {{&first, sizeof first}, {threads->states, size}};
  struct iovec from[2] = {{(void *)head_of_list(), sizeof first},
                          {(void *)(threads->now[0].ts + (uintptr_t)python.offsets.ts_next), size}};
  return peek_many(to, from, 2, sizeof first + size) && threads->now[0].ts == first &&
         native_id(threads->states) == threads->now[0].id;
}

static bool read_listed_states(Threads *threads) {
  static struct iovec to[AT_ONCE], from[AT_ONCE];
  size_t size = (size_t)thread_state_bytes(&python.offsets);
  for (int i = 0; i < threads->n; i += AT_ONCE) {
    unsigned n = (unsigned)(threads->n - i < AT_ONCE ? threads->n - i : AT_ONCE);
    for (unsigned k = 0; k < n; k++) {
      uintptr_t at = threads->now[i + (int)k].ts + (uintptr_t)python.offsets.ts_next;
      to[k] = (struct iovec){threads->states + (size_t)(i + (int)k) * threads->stride, size};
      from[k] = (struct iovec){(void *)at, size};
    }
    if (!peek_many(to, from, n, n * size))
      return false;
  }
  return true;
}

static const char *state_of(const Threads *threads, int i) { return threads->states + (size_t)i * threads->stride; }

static bool is_ours(const char *state) { return state_field(state, python.offsets.ts_interp) == python.self; }

/* Fast path if no thread came or went: one call for 128 threads. */
static bool reread(Threads *threads) {
  uintptr_t first;
  bool unsettled = false;
  if (!threads->n || !read_first(&first) || threads->now[0].ts != first || !read_listed_states(threads))
    return false;
  for (int i = 0; i < threads->n; i++) {
    const char *state = state_of(threads, i);
    uintptr_t next = i + 1 < threads->n ? threads->now[i + 1].ts : 0;
    if (state_field(state, python.offsets.ts_next) != next && i + 1 < THREADS_MAX)
      return false;
    if (!is_ours(state) || native_id(state) != threads->now[i].id)
      return false;
    unsettled = unsettled || !threads->now[i].id;
  }
  threads->unsettled = unsettled;
  return true;
}

/* Slow path: follow the linked list, filling `spare`. Return the number of threads; -1 if the
   list changed. */
static int list_chain(Threads *threads) {
  uintptr_t ts;
  int n = 0;
  if (!read_first(&ts))
    return -1;
  for (; ts && n < THREADS_MAX; n++) {
    char *state = threads->states + (size_t)n * threads->stride;
    if (!peek(state, ts + (uintptr_t)python.offsets.ts_next, (size_t)thread_state_bytes(&python.offsets)) ||
        !is_ours(state))
      return -1;
    threads->spare[n] = (Thread){.ts = ts,
                                 .id = native_id(state),
                                 .cpu = -1,
                                 .since = threads->checked_ns,
                                 .moved = threads->checked_ns,
                                 .newborn = threads->listed_ns != 0};
    ts = state_field(state, python.offsets.ts_next);
  }
  return n;
}

static uint16_t *slot_of(Threads *threads, uintptr_t ts, const Thread *table) {
  unsigned i = (unsigned)(ts >> 4) * 2654435761u % INDEX_SIZE;
  while (threads->index[i] && table[threads->index[i] - 1].ts != ts)
    i = (i + 1) % INDEX_SIZE;
  return &threads->index[i];
}

/* Keep the records of threads that still exist; a thread whose native id changed is another one.
   A new thread has no native id until it runs (in 3.11: its creator's), so the next tick reads
   the list again while there are any. */
static void carry_over(Threads *threads, int n) {
  int settled = 0;
  memset(threads->index, 0, INDEX_SIZE * sizeof *threads->index);
  for (int i = 0; i < n; i++)
    *slot_of(threads, threads->spare[i].ts, threads->spare) = (uint16_t)(i + 1);
  for (int i = 0; i < threads->n; i++) {
    Thread *old = &threads->now[i];
    uint16_t at = *slot_of(threads, old->ts, threads->spare);
    if (at && threads->spare[at - 1].id == old->id) {
      threads->spare[at - 1] = *old;
      settled++;
    } else if (old->timer) {
      timer_release(old->timer);
    }
  }
  threads->unsettled = settled < n;
}

static bool relist(Threads *threads) {
  int n = -1;
  for (int attempt = 0; n < 0 && attempt < 3; attempt++)
    n = list_chain(threads);
  if (n < 0)
    return false;
  carry_over(threads, n);
  Thread *now = threads->spare;
  threads->spare = threads->now;
  threads->now = now;
  threads->n = n;
  return true;
}

bool threads_update(Threads *threads, bool fully) {
  int64_t now = monotonic_ns();
  if (fully || now - threads->listed_ns > LIST_AGE_NS || !nobody_came(threads)) {
    if (!reread(threads) && !relist(threads))
      return false;
    threads->listed_ns = now;
  }
  threads->checked_ns = now;
  return true;
}
