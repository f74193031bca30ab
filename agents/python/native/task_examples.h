/* Where the parts of asyncio's tasks are: learned from examples that were made for it. */
#ifndef FLAMEWATCH_TASK_EXAMPLES_H
#define FLAMEWATCH_TASK_EXAMPLES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef struct TaskExamples {
  PyObject *awaited, *waiting; /* tasks; the first one is the thread's current one */
  PyObject *outer, *inner;     /* coroutines: the awaited task's, and the one that that awaits */
  PyObject *name;              /* of the awaited task */
  PyObject *current;           /* the dictionary of current tasks, where there is one (before 3.14) */
} TaskExamples;

/* With the GIL. NULL: from now on tasks are read; or why they cannot be. */
const char *tasks_learn(const TaskExamples *examples);

#endif
