#include "interpreter/task_examples.h"

#include "interpreter/tasks.h"

#define STATE_SEARCHED 4096 /* bytes of a thread state that are searched for the current task */

/* Return the last offset of a word within `n` bytes; -1 if it is absent. */
static int find_word(uintptr_t from, int n, uintptr_t word, uintptr_t mask) {
  int found = -1;
  for (int at = 0; at + 8 <= n; at += 8)
    if ((word_of(from, at) & mask) == word)
      found = at;
  return found;
}

static int size_of(PyObject *object) {
  PyObject *type = PyObject_Type(object), *size = type ? PyObject_GetAttrString(type, "__basicsize__") : NULL;
  int n = size ? (int)PyLong_AsLong(size) : 0;
  Py_XDECREF(size);
  Py_XDECREF(type);
  return n;
}

static bool learn_frames(const TaskExamples *e) {
  PyObject *code = PyObject_GetAttrString(e->outer, "cr_code");
  uintptr_t outer = (uintptr_t)e->outer;
  char copy[sizeof((Walk *)0)->frame];
  int at = find_word(outer, size_of(e->outer), (uintptr_t)code, python.offsets.frame_code_mask);
  tasks.frame_at = at - python.offsets.frame_code;
  Py_XDECREF(code);
  if (at < 0 || !tasks_copy_frame(copy, outer + (uintptr_t)tasks.frame_at))
    return false;
  for (tasks.stack_slot = 1; tasks.stack_slot <= 2; tasks.stack_slot++)
    if (tasks_awaited_in(copy, outer + (uintptr_t)tasks.frame_at) == (uintptr_t)e->inner)
      return true;
  return false;
}

static bool learn_callback(uintptr_t awaited, int n, uintptr_t waiting) {
  for (tasks.callback_at = 0; tasks.callback_at < n; tasks.callback_at += 8) {
    uintptr_t object = word_of(awaited, tasks.callback_at);
    if (object && word_of(object, TYPE) == tasks.function_type && word_of(object, FUNCTION_SELF) == waiting)
      return (tasks.wakeup = word_of(object, FUNCTION_DEFINITION)) != 0;
  }
  return false;
}

static bool learn_task(const TaskExamples *e) {
  uintptr_t awaited = (uintptr_t)e->awaited, waiting = (uintptr_t)e->waiting, all = ~(uintptr_t)0;
  int n = size_of(e->awaited), by = find_word(awaited, n, waiting, all);
  tasks.task_type = word_of(awaited, TYPE);
  tasks.coroutine_type = word_of((uintptr_t)e->outer, TYPE);
  tasks.coroutine_at = find_word(awaited, n, (uintptr_t)e->outer, all);
  tasks.name_at = find_word(awaited, n, (uintptr_t)e->name, all);
  tasks.awaited_by_at = by < 0 ? 0 : by;
  return tasks.coroutine_at > 0 && tasks.name_at > 0 && (by > 0 || learn_callback(awaited, n, waiting));
}

static bool learn_current(const TaskExamples *e) {
  Walk *walk = PyMem_Calloc(1, sizeof *walk);
  int at = find_word((uintptr_t)PyThreadState_Get(), STATE_SEARCHED, (uintptr_t)e->awaited, ~(uintptr_t)0);
  tasks.ts_task = at < 0 ? 0 : at;
  tasks.current = (uintptr_t)e->current;
  if (walk && !tasks.ts_task && e->current != Py_None)
    tasks_look_in_dictionary(walk);
  bool found = tasks.ts_task;
  for (int i = 0; walk && i < walk->running_n; i++)
    found = found || walk->running[i].task == (uintptr_t)e->awaited;
  PyMem_Free(walk);
  return found;
}

const char *tasks_learn(const TaskExamples *examples) {
  tasks.learned = false;
  tasks.set_type = (uintptr_t)&PySet_Type;
  tasks.function_type = (uintptr_t)&PyCFunction_Type;
  tasks.list_type = (uintptr_t)&PyList_Type;
  tasks.text_type = (uintptr_t)&PyUnicode_Type;
  bool learned = learn_frames(examples) && learn_task(examples) && learn_current(examples);
  bool whole = learned && tasks_awaiter_of((uintptr_t)examples->awaited) == (uintptr_t)examples->waiting;
  PyErr_Clear();
  if (!whole)
    return "asyncio's tasks have an unknown layout";
  Py_INCREF(examples->current);
  tasks.learned = true;
  return NULL;
}
