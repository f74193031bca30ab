#include "capture/capture.h"

#include "base/clocks.h"

bool capture_open(Capture *capture, const Options *options) {
  *capture = (Capture){.options = *options};
  if (!arena_open(&capture->arena, options->max_bytes))
    return false;
  if (!codes_open(&capture->codes, &capture->arena) || !stacks_open(&capture->stacks, &capture->arena)) {
    arena_close(&capture->arena);
    return false;
  }
  capture->started_unix_ns = clock_ns(CLOCK_REALTIME);
  capture->started_ns = monotonic_ns();
  return true;
}

void capture_close(Capture *capture) { arena_close(&capture->arena); }

bool is_excluded(const Capture *capture, pid_t thread) {
  for (int i = 0; i < capture->options.excluded_n; i++)
    if (capture->options.excluded[i] == thread)
      return true;
  return false;
}

void record_many(Capture *capture, Stack *stack, int64_t n, int64_t value) {
  stack->value += value;
  stack->count += n;
  capture->counts.samples++;
  capture->counts.cut += stack->cut;
}

void record_again(Capture *capture, Stack *stack, int64_t value) { record_many(capture, stack, 1, value); }

static Stack *drop(Capture *capture, int64_t *reason, int64_t value) {
  ++*reason;
  capture->counts.lost += value;
  return NULL;
}

Stack *find_stack(Capture *capture, const Walk *walk, Walked walked, pid_t thread, int64_t value) {
  Counts *counts = &capture->counts;
  if (walked == WALK_EMPTY)
    return NULL; /* a thread that runs no Python code gives no sample */
  if (walked == WALK_TORN)
    return drop(capture, &counts->torn, value);
  if (!capture->options.per_thread)
    thread = 0;
  uint32_t label = label_find(&capture->labels, &capture->arena, walk->label, walk->label_n, &counts->labels_full);
  Stack *stack = stack_find(&capture->stacks, &capture->codes, &capture->arena, walk, thread, label);
  return stack ? stack : drop(capture, &counts->table_full, value);
}

Stack *record(Capture *capture, const Walk *walk, Walked walked, pid_t thread, int64_t value) {
  Stack *stack = find_stack(capture, walk, walked, thread, value);
  if (stack)
    record_again(capture, stack, value);
  return stack;
}
