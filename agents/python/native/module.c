/* Functions of flamewatch._native. Their contracts are in src/flamewatch/_native.pyi. */
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arguments.h"
#include "base/clocks.h"
#include "base/futex.h"
#include "capture/capture.h"
#include "capture/result.h"
#include "contention/contention.h"
#include "contention/lock_methods.h"
#include "heap/heap.h"
#include "heap_module.h"
#include "interpreter/context.h"
#include "interpreter/peek.h"
#include "interpreter/task_examples.h"
#include "interpreter/tasks.h"
#include "options.h"
#include "own_stack.h"
#include "sampling/sampler.h"
#include "verify.h"

static enum { IDLE, RUNNING, STOPPING } state; /* changes only with the GIL */
static Capture capture;
static atomic_int wakes;

static PyObject *text_or_none(const char *text) {
  if (text)
    return PyUnicode_FromString(text);
  Py_RETURN_NONE;
}

static PyObject *supported(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args)) {
  return text_or_none(why_unsupported());
}

static PyObject *contention_supported(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args)) {
  const char *reason = why_unsupported();
  if (!reason)
    reason = why_no_lock_methods();
  return text_or_none(reason);
}

static PyObject *gil_waits_supported(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args)) {
  return text_or_none(why_no_gil_waits());
}

/* Keep the code objects alive with whose addresses the capture compares. Steals the reference. */
static void hold_codes(PyObject *codes) {
  static PyObject *codes_in_use;
  PyObject *before = codes_in_use;
  codes_in_use = codes;
  Py_XDECREF(before);
}

static PyObject *start(PyObject *Py_UNUSED(self), PyObject *args, PyObject *keywords) {
  Options options;
  PyObject *idle_codes;
  const char *problem = why_unsupported();
  if (!read_options(args, keywords, &options, &idle_codes))
    return NULL;
  if (!problem && state != IDLE)
    problem = "a capture is running";
  if (!problem && python.self != (uintptr_t)PyInterpreterState_Get())
    problem = "captures belong to the interpreter that made the first one";
  if (!problem)
    problem =
        options.kind == KIND_CONTENTION ? contention_start(&capture, &options) : sampler_start(&capture, &options);
  if (problem) {
    Py_DECREF(idle_codes);
    return raise_runtime_error(problem);
  }
  hold_codes(idle_codes);
  state = RUNNING;
  Py_RETURN_NONE;
}

static bool stop_sampler(void) {
  bool stopped;
  Py_BEGIN_ALLOW_THREADS
  stopped = sampler_stop(&capture);
  Py_END_ALLOW_THREADS
  return stopped;
}

static PyObject *stop(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args)) {
  if (state != RUNNING)
    return raise_runtime_error("no capture is running");
  state = STOPPING;
  if (capture.options.kind == KIND_CONTENTION)
    contention_stop();
  else if (!stop_sampler()) /* stays STOPPING: the thread may still use its memory */
    return raise_runtime_error("the sampler thread did not stop within a second; no more captures will be made");
  PyObject *result = result_of(&capture);
  capture_close(&capture);
  state = IDLE;
  return result;
}

static PyObject *running(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args)) {
  return PyBool_FromLong(state == RUNNING);
}

static PyObject *wait_(PyObject *Py_UNUSED(self), PyObject *argument) {
  double seconds = PyFloat_AsDouble(argument);
  if (PyErr_Occurred())
    return NULL;
  if (!(seconds >= 0 && seconds <= 1e6)) {
    PyErr_SetString(PyExc_ValueError, "seconds must be from 0 to 1000000");
    return NULL;
  }
  int64_t deadline = monotonic_ns() + (int64_t)(seconds * 1e9);
  while (!atomic_exchange(&wakes, 0)) {
    if (monotonic_ns() >= deadline)
      Py_RETURN_FALSE;
    Py_BEGIN_ALLOW_THREADS
    futex_wait_until(&wakes, 0, deadline);
    Py_END_ALLOW_THREADS
    if (PyErr_CheckSignals())
      return NULL;
  }
  Py_RETURN_TRUE;
}

static PyObject *wake(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args)) {
  wakes = 1;
  futex_wake(&wakes);
  Py_RETURN_NONE;
}

/* The C library calls this in every child as well, so that nothing depends on Python's fork
   hooks. */
static void forget_parent(void) {
  peek_set_pid();
  if (state != IDLE) {
    contention_forget();
    sampler_forget(&capture);
  }
  state = IDLE;
  wakes = 0;
}

static void in_child(void) {
  forget_parent();
  heap_after_fork_in_child();
}

static PyObject *after_fork_child(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args)) {
  forget_parent();
  Py_RETURN_NONE;
}

static PyObject *read_labels_of(PyObject *Py_UNUSED(self), PyObject *args) {
  PyObject *variable, *context, *alone, *value;
  if (!PyArg_ParseTuple(args, "OOOS", &variable, &context, &alone, &value))
    return NULL;
  const char *problem = why_unsupported();
  if (!problem)
    problem = context_learn(variable, context, alone, value);
  return text_or_none(problem);
}

static PyObject *read_tasks_of(PyObject *Py_UNUSED(self), PyObject *args) {
  TaskExamples e;
  if (!PyArg_ParseTuple(args, "OOOOUO", &e.awaited, &e.waiting, &e.outer, &e.inner, &e.name, &e.current))
    return NULL;
  const char *problem = why_unsupported();
  if (!problem)
    problem = tasks_learn(&e);
  return text_or_none(problem);
}

static PyObject *thread_id(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args)) {
  return PyLong_FromLong(syscall(SYS_gettid));
}

static PyObject *own_stack_result(const Options *options, Walk *walk) {
  Capture own;
  if (!capture_open(&own, options))
    return PyErr_NoMemory();
  Walked walked = walk_own_stack(walk) ? WALK_OK : WALK_TORN;
  context_read(walk);
  tasks_name(walk);
  record(&own, walk, walked, (pid_t)syscall(SYS_gettid), 1);
  own.ended_ns = own.started_ns;
  PyObject *result = result_of(&own);
  capture_close(&own);
  return result;
}

static PyObject *read_own_stack(PyObject *Py_UNUSED(self), PyObject *args) {
  int max_depth = 512;
  const char *problem = why_unsupported();
  if (!PyArg_ParseTuple(args, "|i", &max_depth) || !in_range("max_depth", max_depth, 1, MAX_DEPTH_LIMIT))
    return NULL;
  if (problem)
    return raise_runtime_error(problem);
  Walk *walk = PyMem_Malloc(walk_bytes(max_depth));
  if (!walk)
    return PyErr_NoMemory();
  walk->max_depth = max_depth;
  Options options = {.kind = KIND_THREADS, .max_depth = max_depth, .max_bytes = 8 << 20, .per_thread = true};
  PyObject *result = own_stack_result(&options, walk);
  PyMem_Free(walk);
  return result;
}

static PyMethodDef methods[] = {
    {"supported", supported, METH_NOARGS, NULL},
    {"contention_supported", contention_supported, METH_NOARGS, NULL},
    {"gil_waits_supported", gil_waits_supported, METH_NOARGS, NULL},
    {"start", WITH_KEYWORDS(start), METH_VARARGS | METH_KEYWORDS, NULL},
    {"stop", stop, METH_NOARGS, NULL},
    {"running", running, METH_NOARGS, NULL},
    {"wait", wait_, METH_O, NULL},
    {"wake", wake, METH_NOARGS, NULL},
    {"after_fork_child", after_fork_child, METH_NOARGS, NULL},
    {"read_labels_of", read_labels_of, METH_VARARGS, NULL},
    {"read_tasks_of", read_tasks_of, METH_VARARGS, NULL},
    {"thread_id", thread_id, METH_NOARGS, NULL},
    {"read_own_stack", read_own_stack, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_native", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__native(void) {
  static bool hooked;
  if (!hooked)
    pthread_atfork(heap_before_fork, heap_after_fork_in_parent, in_child);
  hooked = true;
  PyObject *module = PyModule_Create(&definition);
  if (module && PyModule_AddFunctions(module, heap_methods))
    Py_CLEAR(module);
  return module;
}
