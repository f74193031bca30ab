/* Arguments of start(). */
#ifndef FLAMEWATCH_OPTIONS_H
#define FLAMEWATCH_OPTIONS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

#include "capture/capture.h"

/* Parse the arguments. Return false with an exception if one of them is invalid. `idle_codes`: a
   new reference to the object that keeps the code objects of options->idle alive. */
bool read_options(PyObject *args, PyObject *keywords, Options *options, PyObject **idle_codes);

#endif
