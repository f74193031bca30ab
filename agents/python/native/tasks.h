/* asyncio's tasks: which one a thread runs, what it is called, and who awaits it.

   A task's frames end at the event loop, whoever awaits the task; and its name is in no frame. Both
   are read out of the task objects, on request. */
#ifndef FLAMEWATCH_TASKS_H
#define FLAMEWATCH_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "peek.h"
#include "walk.h"

/* Where things are (task_examples.c). */
typedef struct TaskLayout {
  bool known; /* else nothing is read */
  uintptr_t task_type, coroutine_type, set_type, function_type, list_type, text_type;
  int coroutine_at, name_at, callback_at;
  int awaited_by_at; /* 0: there is no such thing (before 3.14) */
  int frame_at;      /* of a coroutine's frame in the coroutine */
  int stack_slot;    /* of what a coroutine awaits, from its stack's top */
  int ts_task;       /* of the current task in a thread state; 0: it is not there (before 3.14) */
  uintptr_t current; /* the dictionary that it is in then */
  uintptr_t wakeup;  /* what the callbacks do that wake a task up */
} TaskLayout;

extern TaskLayout tasks;

/* Objects begin with their count and their type; of functions in C, their definition and `self` follow. */
enum { TYPE = 8, FUNCTION_DEFINITION = 16, FUNCTION_SELF = 24 };

static inline uintptr_t word_of(uintptr_t object, int offset) {
  uintptr_t word;
  return object && peek(&word, object + (uintptr_t)offset, sizeof word) ? word : 0;
}

/* Which tasks may be running on the thread whose state is in walk->state. All are async-signal-safe. */
void tasks_look(Walk *walk);

/* To be called when a generator's frame was added. If a task begins there, the frames of those who
   await it follow. */
void tasks_meet(Walk *walk, uintptr_t frame);

/* The name of the task that was met, if it was given one, as one more label. */
void tasks_name(Walk *walk);

/* The parts of it, for who learns: the same by the dictionary; a copy of the frame of a generator; what
   the suspended coroutine with this frame awaits; and the one that awaits this task or future, 0 for
   nobody or several at once. */
void tasks_look_in_dictionary(Walk *walk);
bool tasks_copy_frame(char *to, uintptr_t at);
uintptr_t tasks_awaited_in(const char *frame, uintptr_t at);
uintptr_t tasks_awaiter_of(uintptr_t future);

#endif
