#include "heap_module.h"

#include <math.h>
#include <string.h>

#include "arguments.h"
#include "capture/result.h"
#include "heap/allocators.h"
#include "heap/heap.h"
#include "heap/heap_hooks.h"
#include "heap/numpy_data.h"
#include "verify.h"

static const char *why_not(void) {
  const char *problem = why_unsupported();
  if (!problem)
    problem = why_no_allocators();
  if (!problem && python.self != (uintptr_t)PyInterpreterState_Get())
    problem = "memory is counted for the interpreter that asked first";
  return problem;
}

static bool read_options(PyObject *args, PyObject *keywords, HeapOptions *options, int *raw) {
  static char *names[] = {"mean_bytes", "raw", "max_depth", "max_bytes", "samples_per_second", NULL};
  Py_ssize_t mean = 512 << 10, max_depth = 512, max_bytes = 4 << 20, per_second = 500;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$npnnn", names, &mean, raw, &max_depth, &max_bytes, &per_second) ||
      !in_range("mean_bytes", mean, 1, 1 << 30) || !in_range("max_depth", max_depth, 1, MAX_DEPTH_LIMIT) ||
      !in_range("max_bytes", max_bytes, 1 << 18, 1 << 30) || !in_range("samples_per_second", per_second, 1, 1 << 30))
    return false;
  *options = (HeapOptions){(double)mean, (size_t)max_bytes, (int)max_depth, (int)per_second};
  return true;
}

static PyObject *heap_start(PyObject *Py_UNUSED(self), PyObject *args, PyObject *keywords) {
  HeapOptions options;
  int raw = 0;
  if (!read_options(args, keywords, &options, &raw))
    return NULL;
  const char *problem = why_not();
  if (problem)
    return raise_runtime_error(problem);
  if (heap_is_open() && hooks_are_reached()) {
    numpy_put_in(); /* NumPy may have been imported since */
    Py_RETURN_FALSE;
  }
  if (!heap_open(&options))
    return raise_runtime_error("there is no memory for the tables of allocations");
  hooks_put_in(raw);
  numpy_put_in();
  Py_RETURN_TRUE;
}

static PyObject *heap_stop(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args)) {
  if (heap_is_open()) {
    hooks_take_out();
    numpy_take_out();
    heap_close();
  }
  Py_RETURN_NONE;
}

static PyObject *heap_running(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args)) {
  return PyBool_FromLong(heap_is_open());
}

static PyObject *heap_apart(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args)) {
  countdown.apart = true;
  countdown.left = 0;
  Py_RETURN_NONE;
}

static PyObject *mark(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args)) {
  if (!heap_is_open())
    return raise_runtime_error("memory is not being counted");
  heap_mark();
  Py_RETURN_NONE;
}

static PyObject *memory_object(const Stacks *stacks, const Site *sites, bool interval) {
  PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)stacks->n * 4 * 8);
  int64_t *row = bytes ? (int64_t *)PyBytes_AsString(bytes) : NULL;
  for (uint32_t i = 0; row && i < stacks->n; i++, row += 4) {
    const Totals *t = interval ? &sites[i].interval : &sites[i].ever;
    const int64_t values[4] = {llround(t->allocated_objects), llround(t->allocated_bytes), llround(t->used_objects),
                               llround(t->used_bytes)};
    memcpy(row, values, sizeof values);
  }
  return bytes;
}

/* Fill the columns that all captures have: the value of the default metric, and samples. */
static void fill_in(Stacks *stacks, const Site *sites, bool interval) {
  for (Stack *stack = stacks->first; stack; stack = stack->newer) {
    const Site *site = &sites[stack->index];
    stack->value = llround(interval ? site->interval.allocated_bytes : site->ever.used_bytes);
    stack->count = interval ? site->interval.samples : site->ever.samples;
  }
}

static PyObject *counts_object(const HeapCounts *c) {
  return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L}", "samples", (long long)c->samples, "torn",
                       (long long)c->torn, "foreign", (long long)c->foreign, "table_full", (long long)c->table_full,
                       "cut", (long long)c->cut, "forgotten", (long long)c->forgotten, "lost", (long long)c->lost,
                       "spent_ns", (long long)c->spent_ns);
}

static PyObject *view_object(HeapView *view, bool interval) {
  Sites *sites = &view->sites;
  fill_in(&sites->stacks, sites->at, interval);
  PyObject *result = Py_BuildValue("{s:s,s:L,s:L,s:L,s:L,s:L}", "kind", interval ? "heap_alloc" : "heap", "mean_bytes",
                                   (long long)view->mean_bytes, "since_ns", (long long)view->since_unix_ns,
                                   "started_ns", (long long)view->began_unix_ns, "duration_ns",
                                   (long long)view->duration_ns, "table_bytes", (long long)view->memory);
  if (result &&
      (put(result, "stacks", stacks_object(&sites->stacks)) || put(result, "frames", frames_object(&sites->stacks)) ||
       put(result, "codes", codes_object(&sites->codes)) || put(result, "labels", PyList_New(0)) ||
       put(result, "counts", counts_object(&view->counts)) ||
       put(result, "memory", memory_object(&sites->stacks, sites->at, interval))))
    Py_CLEAR(result);
  return result;
}

static PyObject *heap_read(PyObject *Py_UNUSED(self), PyObject *args) {
  const char *kind;
  HeapView view;
  if (!PyArg_ParseTuple(args, "s", &kind))
    return NULL;
  bool interval = !strcmp(kind, "heap_alloc");
  if (!interval && strcmp(kind, "heap")) {
    PyErr_Format(PyExc_ValueError, "kind is '%s'; it must be 'heap' or 'heap_alloc'", kind);
    return NULL;
  }
  if (!heap_is_open())
    return raise_runtime_error("memory is not being counted");
  if (!heap_view(&view, interval))
    return PyErr_NoMemory();
  PyObject *result = view_object(&view, interval);
  sites_close(&view.sites);
  return result;
}

PyMethodDef heap_methods[] = {
    {"heap_start", WITH_KEYWORDS(heap_start), METH_VARARGS | METH_KEYWORDS, NULL},
    {"heap_stop", heap_stop, METH_NOARGS, NULL},
    {"heap_running", heap_running, METH_NOARGS, NULL},
    {"heap_apart", heap_apart, METH_NOARGS, NULL},
    {"heap_mark", mark, METH_NOARGS, NULL},
    {"heap_read", heap_read, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
