/* asyncio's tasks: the one that a thread runs, its name, and the tasks that await it.

   The frames of a task end at the event loop, even if other tasks await it, and its name is in
   no frame. Both are read from the task objects, if enabled. */
#ifndef FLAMEWATCH_TASKS_H
#define FLAMEWATCH_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "interpreter/peek.h"
#include "interpreter/positions.h"

/* Offsets and types, learned by task_examples.c. */
typedef struct TaskLayout {
  bool learned; /* else no task is read */
  uintptr_t task_type, coroutine_type, set_type, function_type, list_type, text_type;
  int coroutine_at, name_at, callback_at;
  int awaited_by_at; /* 0: the field does not exist (before 3.14) */
  int frame_at;      /* offset of the frame in a coroutine */
  int stack_slot;    /* slot of the awaited object, from the top of a coroutine's stack */
  int ts_task;       /* offset of the current task in a thread state; 0: absent (before 3.14) */
  uintptr_t current; /* the dictionary of current tasks, before 3.14 */
  uintptr_t wakeup;  /* definition of the callbacks that wake a task */
} TaskLayout;

extern TaskLayout tasks;

/* Objects begin with their reference count and type; in C functions, definition and `self`
   follow. */
enum { TYPE = 8, FUNCTION_DEFINITION = 16, FUNCTION_SELF = 24 };

static inline uintptr_t word_of(uintptr_t object, int offset) {
  uintptr_t word;
  return object && peek(&word, object + (uintptr_t)offset, sizeof word) ? word : 0;
}

/* Collect the tasks that may be running on the thread whose state is in walk->state. All
   functions are async-signal-safe. */
void tasks_look(Walk *walk);

/* Call after adding a generator's frame. If a task begins there, add the frames of the tasks
   that await it. */
void tasks_meet(Walk *walk, uintptr_t frame);

/* Add the name of the task found on the stack as a label, if it was given one. */
void tasks_name(Walk *walk);

/* Steps of the functions above, for task_examples.c: collect tasks from the dictionary; copy the
   frame of a generator; return the object that the suspended coroutine with this frame awaits;
   return the task that awaits this task or future, 0 for none or several. */
void tasks_look_in_dictionary(Walk *walk);
bool tasks_copy_frame(char *to, uintptr_t at);
uintptr_t tasks_awaited_in(const char *frame, uintptr_t at);
uintptr_t tasks_awaiter_of(uintptr_t future);

#endif
