/* A finished capture as Python objects; see _native.pyi for the shape. */
#ifndef FLAMEWATCH_RESULT_H
#define FLAMEWATCH_RESULT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "capture.h"

PyObject *result_of(const Capture *capture);

/* Its parts, for captures that are kept in other ways. */
PyObject *codes_object(const Codes *codes);
PyObject *stacks_object(const Stacks *stacks);
PyObject *frames_object(const Stacks *stacks);

/* Sets the key and lets go of the value; -1 and an exception if either is missing. */
int put(PyObject *result, const char *key, PyObject *value);

#endif
