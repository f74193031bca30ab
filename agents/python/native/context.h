/* What a context variable holds in the context that a thread runs in.

   Contexts follow asyncio's tasks, greenlets and thread pools without a hook of ours, so a label
   that is a context variable is always the running code's. Their immutable trees (HAMT) look the
   same in all versions; that is checked at start, on trees that were made for it. */
#ifndef FLAMEWATCH_CONTEXT_H
#define FLAMEWATCH_CONTEXT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

#include "walk.h"

/* With the GIL, in a context where the variable is set to `value` (a bytes object), among others so
   that its tree has nodes of both kinds; `alone` has this variable only. NULL, or why labels cannot
   be read here: then they are not. The variable is kept for good. */
const char *context_learn(PyObject *variable, PyObject *context, PyObject *alone, PyObject *value);

/* Reads the labels of the thread whose state is in walk->state into walk->label. None: length 0.
   Async-signal-safe, as the other. */
void context_read(Walk *walk);

/* Are its labels still those in walk->label? */
bool context_stayed(const Walk *walk);

#endif
