/* The arguments of start(). */
#ifndef FLAMEWATCH_OPTIONS_H
#define FLAMEWATCH_OPTIONS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

#include "capture.h"

/* False, and an exception, when one of them is wrong. `idle_codes`: a new reference to what keeps the
   code objects of options->idle alive. */
bool read_options(PyObject *args, PyObject *keywords, Options *options, PyObject **idle_codes);

#endif
