#include "interpreter/tasks.h"

#include <string.h>

#include "interpreter/text.h"

/* Offsets, equal from 3.11 to 3.15. */
enum { KEYS = 32, KEYS_INDEX_BYTES = 9, KEYS_KIND = 10, KEYS_N = 24, KEYS_HEAD = 32, ENTRY = 24, ENTRY_VALUE = 16 };
enum { CALLBACKS = 16 /* after the first one */, LIST_SIZE = 16, LIST_ITEMS = 24, TUPLE_FIRST = 24 }; /* before 3.14 */
enum { FRAME_STACK_TOP = 64 }; /* 3.14 and later: a pointer; before: a count of locals and values */

#define CHAIN_MAX 64    /* coroutines per task */
#define AWAITERS_MAX 32 /* length of a chain of awaiting tasks */
#define CALLBACKS_MAX 16
#define LONGEST_NAME 64 /* characters */

TaskLayout tasks;

static void may_run(Walk *walk, uintptr_t task) {
  uintptr_t coroutine = word_of(task, tasks.coroutine_at);
  if (coroutine && word_of(task, TYPE) == tasks.task_type && walk->running_n < TASKS_AT_ONCE)
    walk->running[walk->running_n++] = (RunningTask){task, coroutine + (uintptr_t)tasks.frame_at};
}

/* Collect the current task of each running loop. The frames of a stack show later which of them
   belongs to the thread. */
void tasks_look_in_dictionary(Walk *walk) {
  uintptr_t keys = word_of(tasks.current, KEYS);
  char head[KEYS_HEAD];
  if (!keys || !peek(head, keys, sizeof head) || head[KEYS_KIND])
    return;
  uintptr_t entries = keys + KEYS_HEAD + ((uintptr_t)1 << (head[KEYS_INDEX_BYTES] & 31));
  for (uintptr_t i = 0; i < word_at(head, KEYS_N) && i < 2 * TASKS_AT_ONCE; i++)
    may_run(walk, word_of(entries + i * ENTRY, ENTRY_VALUE));
}

void tasks_look(Walk *walk) {
  walk->running_n = 0;
  walk->task = 0;
  if (!tasks.learned)
    return;
  if (tasks.ts_task)
    may_run(walk, word_of(walk->ts, tasks.ts_task));
  else
    tasks_look_in_dictionary(walk);
}

/* Return the object that the suspended coroutine with this frame awaits. */
uintptr_t tasks_awaited_in(const char *frame, uintptr_t at) {
  uintptr_t top = word_at(frame, FRAME_STACK_TOP);
  if (python.offsets.version < 0x030e)
    top = at + (uintptr_t)python.offsets.frame_size + 8 * (uintptr_t)(uint32_t)top;
  return word_of(top - 8 * (uintptr_t)tasks.stack_slot, 0) & python.offsets.frame_code_mask;
}

bool tasks_copy_frame(char *to, uintptr_t at) {
  return peek(to, at, (size_t)python.offsets.frame_size) &&
         (unsigned char)to[python.offsets.frame_owner] == OWNED_BY_GENERATOR;
}

/* Add the coroutines of a waiting task, the innermost first. */
static void add_coroutines(Walk *walk, uintptr_t coroutine) {
  uintptr_t frames[CHAIN_MAX];
  char copy[sizeof walk->frame];
  int n = 0;
  while (n < CHAIN_MAX && coroutine && word_of(coroutine, TYPE) == tasks.coroutine_type) {
    frames[n] = coroutine + (uintptr_t)tasks.frame_at;
    if (!tasks_copy_frame(copy, frames[n]))
      break;
    coroutine = tasks_awaited_in(copy, frames[n++]);
  }
  while (n-- && walk->depth < walk->max_depth)
    if (!tasks_copy_frame(copy, frames[n]) || !walk_add(walk, copy))
      return;
}

/* Return the task that this callback wakes; 0 if it does something else. */
static uintptr_t woken_by(uintptr_t callback) {
  bool wakes = callback && word_of(callback, TYPE) == tasks.function_type &&
               word_of(callback, FUNCTION_DEFINITION) == tasks.wakeup;
  return wakes ? word_of(callback, FUNCTION_SELF) : 0;
}

/* Before 3.14: a callback of the awaited task wakes the task that awaits it. Callbacks are a
   first one and a list of pairs. The callbacks of gather() and task groups do not name the
   awaiting task. */
static uintptr_t awaiter_by_callbacks(uintptr_t future) {
  uintptr_t found = woken_by(word_of(future, tasks.callback_at)), more = word_of(future, tasks.callback_at + CALLBACKS);
  uintptr_t n = more && word_of(more, TYPE) == tasks.list_type ? word_of(more, LIST_SIZE) : 0;
  uintptr_t items = n ? word_of(more, LIST_ITEMS) : 0;
  for (uintptr_t i = 0; items && i < n && i < CALLBACKS_MAX; i++) {
    uintptr_t by = woken_by(word_of(word_of(items + 8 * i, 0), TUPLE_FIRST));
    if (by && found)
      return 0;
    found = by ? by : found;
  }
  return found;
}

/* Return the task that awaits this task or future; 0 for none, or for several. */
uintptr_t tasks_awaiter_of(uintptr_t future) {
  if (!tasks.awaited_by_at)
    return awaiter_by_callbacks(future);
  uintptr_t by = word_of(future, tasks.awaited_by_at);
  return by && word_of(by, TYPE) != tasks.set_type ? by : 0;
}

static void add_awaiters(Walk *walk) {
  uintptr_t by = tasks_awaiter_of(walk->task);
  for (int i = 0; by && by != walk->task && i < AWAITERS_MAX; i++) {
    if (word_of(by, TYPE) == tasks.task_type)
      add_coroutines(walk, word_of(by, tasks.coroutine_at));
    by = tasks_awaiter_of(by);
  }
}

void tasks_meet(Walk *walk, uintptr_t frame) {
  for (int i = 0; i < walk->running_n && !walk->task; i++)
    if (walk->running[i].frame == frame) {
      walk->task = walk->running[i].task;
      add_awaiters(walk);
    }
}

/* A default name such as "Task-12" carries no information, and would be a new label for each
   task. */
static bool was_given(const char *name, int n) {
  static const char prefix[] = "Task-";
  int same = (int)sizeof prefix - 1;
  if (n <= same || memcmp(name, prefix, (size_t)same))
    return n > 0;
  for (int i = same; i < n; i++)
    if (name[i] < '0' || name[i] > '9')
      return true;
  return false;
}

void tasks_name(Walk *walk) {
  static const char label[] = "\0task"; /* followed by the zero byte before the name */
  enum { SUM = 4 };
  char name[4 * LONGEST_NAME];
  uintptr_t object = walk->task ? word_of(walk->task, tasks.name_at) : 0;
  if (!object || word_of(object, TYPE) != tasks.text_type)
    return; /* 3.12 and later: a number until the program reads the name */
  int n = text_utf8(name, LONGEST_NAME, object), first = walk->label_n ? 0 : 1;
  int start = walk->label_n ? walk->label_n : SUM, size = (int)sizeof label - first;
  if (n <= 0 || !was_given(name, n) || start + size + n > LABEL_MAX)
    return;
  if (first)
    memset(walk->label, 0, SUM); /* no checksum: the labels were not read as one piece */
  memcpy(walk->label + start, label + first, (size_t)size);
  memcpy(walk->label + start + size, name, (size_t)n);
  walk->label_n = start + size + n;
}
