/* Value of a context variable in the context in which a thread runs.

   Contexts propagate to asyncio tasks, greenlets and thread pools without a hook, so labels in a
   context variable always belong to the running code. Their immutable trees (HAMT) have the same
   layout in all versions; a check at start confirms that with example trees. */
#ifndef FLAMEWATCH_CONTEXT_H
#define FLAMEWATCH_CONTEXT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

#include "interpreter/positions.h"

/* Learn the layout from examples. Call with the GIL in a context in which the variable is set to
   `value` (a bytes object) among others, so that its tree has nodes of both kinds; `alone` has
   only this variable. Return NULL, or the reason why labels cannot be read here; then they are
   not. The reference to the variable is never released. */
const char *context_learn(PyObject *variable, PyObject *context, PyObject *alone, PyObject *value);

/* Read the labels of the thread whose state is in walk->state into walk->label. Length 0 if it
   has none. Async-signal-safe, like context_stayed(). */
void context_read(Walk *walk);

/* Return whether the thread's labels still equal those in walk->label. */
bool context_stayed(const Walk *walk);

#endif
