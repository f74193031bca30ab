/* Layout of asyncio's tasks, learned from examples made for the purpose. */
#ifndef FLAMEWATCH_TASK_EXAMPLES_H
#define FLAMEWATCH_TASK_EXAMPLES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef struct TaskExamples {
  PyObject *awaited, *waiting; /* tasks; the first one is the current task of the thread */
  PyObject *outer, *inner;     /* coroutines: of `awaited`, and the one that `outer` awaits */
  PyObject *name;              /* of the awaited task */
  PyObject *current;           /* the dictionary of current tasks, if there is one (before 3.14) */
} TaskExamples;

/* Learn the layout. With the GIL. Return NULL (tasks are read from now on), or the reason of a
   failure. */
const char *tasks_learn(const TaskExamples *examples);

#endif
