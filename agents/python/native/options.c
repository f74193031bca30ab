#include "options.h"

#include <string.h>

#include "arguments.h"
#include "interpreter/positions.h"

static bool read_kind(const char *name, Kind *kind) {
  static const char *const names[] = {"cpu", "wall", "threads", "contention"};
  for (int i = 0; i < 4; i++)
    if (!strcmp(name, names[i])) {
      *kind = (Kind)i;
      return true;
    }
  PyErr_Format(PyExc_ValueError, "kind is '%s'; it must be 'cpu', 'wall', 'threads' or 'contention'", name);
  return false;
}

static bool read_excluded(PyObject *excluded, Options *options) {
  Py_ssize_t n = excluded ? PySequence_Size(excluded) : 0;
  if (n < 0 || !in_range("the number of excluded threads", n, 0, EXCLUDED_MAX))
    return false;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *item = PySequence_GetItem(excluded, i);
    long id = item ? PyLong_AsLong(item) : -1;
    Py_XDECREF(item);
    if (PyErr_Occurred())
      return false;
    options->excluded[options->excluded_n++] = (pid_t)id;
  }
  return true;
}

/* Return the address of a code object; 0 and a TypeError for any other object. */
static uintptr_t code_address(PyObject *object) {
  if ((uintptr_t)Py_TYPE(object) == python.code_type)
    return (uintptr_t)object;
  PyErr_SetString(PyExc_TypeError, "idle must hold pairs of code objects; the second may be None");
  return 0;
}

static bool read_idle_wait(PyObject *pair, IdleWait *idle) {
  PyObject *inner, *outer;
  if (!PyArg_ParseTuple(pair, "OO", &inner, &outer))
    return false;
  idle->inner = code_address(inner);
  idle->outer = outer == Py_None ? 0 : code_address(outer);
  return !PyErr_Occurred();
}

static bool read_idle(PyObject *idle, Options *options) {
  Py_ssize_t n = PyTuple_Size(idle);
  if (!in_range("the number of idle waits", n, 0, IDLE_MAX))
    return false;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *pair = PyTuple_GetItem(idle, i); /* borrowed: the tuple holds it */
    if (!PyTuple_Check(pair)) {
      PyErr_SetString(PyExc_TypeError, "idle must be a tuple of tuples");
      return false;
    }
    if (!read_idle_wait(pair, &options->idle[options->idle_n++]))
      return false;
  }
  return true;
}

static bool keep_idle(PyObject *idle, Options *options, PyObject **idle_codes) {
  *idle_codes = NULL;
  if (idle && !read_idle(idle, options))
    return false;
  if (idle)
    Py_INCREF(idle);
  *idle_codes = idle ? idle : PyTuple_New(0);
  return *idle_codes != NULL;
}

bool read_options(PyObject *args, PyObject *keywords, Options *options, PyObject **idle_codes) {
  static char *names[] = {"kind",       "period_us", "max_depth", "max_threads", "max_bytes",
                          "per_thread", "exclude",   "idle",      NULL};
  const char *kind;
  Py_ssize_t period_us = 10000, max_depth = 512, max_threads = 128, max_bytes = 8 << 20;
  int per_thread = 1;
  PyObject *excluded = NULL, *idle = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "s|$nnnnpOO!", names, &kind, &period_us, &max_depth, &max_threads,
                                   &max_bytes, &per_thread, &excluded, &PyTuple_Type, &idle))
    return false;
  *options = (Options){.period_ns = period_us * 1000LL,
                       .max_depth = (int)max_depth,
                       .max_threads = (int)max_threads,
                       .max_bytes = (size_t)max_bytes,
                       .per_thread = per_thread};
  return read_kind(kind, &options->kind) && in_range("period_us", period_us, 100, 1000000) &&
         in_range("max_depth", max_depth, 1, MAX_DEPTH_LIMIT) && in_range("max_threads", max_threads, 1, 4096) &&
         in_range("max_bytes", max_bytes, 1 << 18, 1 << 30) && read_excluded(excluded, options) &&
         keep_idle(idle, options, idle_codes);
}
