/* Validation of arguments from Python, with exceptions. */
#ifndef FLAMEWATCH_ARGUMENTS_H
#define FLAMEWATCH_ARGUMENTS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

#define WITH_KEYWORDS(f) (PyCFunction)(void (*)(void)) f

/* Return whether the value is valid. If not, raise a ValueError that names the argument. */
static inline bool in_range(const char *name, Py_ssize_t value, Py_ssize_t least, Py_ssize_t most) {
  if (value >= least && value <= most)
    return true;
  PyErr_Format(PyExc_ValueError, "%s is %zd; it must be from %zd to %zd", name, value, least, most);
  return false;
}

/* Raise a RuntimeError with the reason, and return NULL. */
static inline PyObject *raise_runtime_error(const char *reason) {
  PyErr_SetString(PyExc_RuntimeError, reason);
  return NULL;
}

#endif
