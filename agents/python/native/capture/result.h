/* Conversion of a finished capture to Python objects. Their shape is documented in _native.pyi. */
#ifndef FLAMEWATCH_RESULT_H
#define FLAMEWATCH_RESULT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "capture/capture.h"

PyObject *result_of(const Capture *capture);

/* Single columns, for captures that are stored in other structures. */
PyObject *codes_object(const Codes *codes);
PyObject *stacks_object(const Stacks *stacks);
PyObject *frames_object(const Stacks *stacks);

/* Set the key and release the reference to the value. Return -1 with an exception if the value
   is NULL or cannot be set. */
int put(PyObject *result, const char *key, PyObject *value);

#endif
