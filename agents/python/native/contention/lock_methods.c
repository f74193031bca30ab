#include "contention/lock_methods.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <string.h>

#include "contention/lock_looks.h"
#include "contention/lock_waits.h"
#include "interpreter/peek.h"
#include "interpreter/positions.h"

/* PyMethodDescrObject: offsets of its type and of its PyMethodDef. */
enum { DESCRIPTOR_OF = 16, DESCRIPTOR_METHOD = 40 };
#define FLAGS_OF_CALL (METH_VARARGS | METH_KEYWORDS | METH_NOARGS | METH_O | METH_FASTCALL | METH_CLASS | METH_STATIC)

typedef PyObject *VarargsFunction(PyObject *self, PyObject *args, PyObject *keywords);
typedef PyObject *FastFunction(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names);

typedef struct Method {
  const char *type, *name;
  bool optional;
  int trial;       /* method of the same type that can try without waiting */
  PyMethodDef *at; /* NULL: the method does not exist */
  PyCFunction original, ours;
} Method;

enum { LOCK_ACQUIRE, LOCK_ENTER, LOCK_OLD_NAME, RLOCK_ACQUIRE, RLOCK_ENTER, METHODS };

static Method methods[METHODS] = {
    [LOCK_ACQUIRE] = {"LockType", "acquire", .trial = LOCK_ACQUIRE},
    [LOCK_ENTER] = {"LockType", "__enter__", .trial = LOCK_ACQUIRE},
    [LOCK_OLD_NAME] = {"LockType", "acquire_lock", .optional = true, .trial = LOCK_ACQUIRE},
    [RLOCK_ACQUIRE] = {"RLock", "acquire", .trial = RLOCK_ACQUIRE},
    [RLOCK_ENTER] = {"RLock", "__enter__", .trial = RLOCK_ACQUIRE},
};
static PyObject *only_false; /* (False,) */

static int call_of(const Method *method) { return method->at->ml_flags & FLAGS_OF_CALL; }

/* Return whether the call may wait for the lock. Invalid arguments count as no, because the
   original rejects them. */
static bool may_wait(PyObject *const *args, Py_ssize_t n, PyObject *blocking, PyObject *timeout) {
  blocking = n > 0 ? args[0] : blocking;
  timeout = n > 1 ? args[1] : timeout;
  if (n > 2 || (blocking && blocking != Py_True && !PyLong_Check(blocking)))
    return false;
  if (blocking && PyObject_IsTrue(blocking) != 1)
    return false;
  if (timeout && !PyFloat_Check(timeout) && !PyLong_Check(timeout))
    return false;
  double seconds = timeout ? PyFloat_AsDouble(timeout) : -1;
  PyErr_Clear();
  return seconds > 0 || seconds == -1;
}

/* Return 1: taken without waiting; 0: another thread holds it; -1: an exception. */
static int try_lock(const Method *method, PyObject *self) {
  count_try();
  PyCFunction function = methods[method->trial].original;
  PyObject *argument = Py_False, *taken;
  if (call_of(&methods[method->trial]) == (METH_FASTCALL | METH_KEYWORDS))
    taken = ((FastFunction *)(void (*)(void))function)(self, &argument, 1, NULL);
  else
    taken = ((VarargsFunction *)(void (*)(void))function)(self, only_false, NULL);
  int result = !taken ? -1 : taken == Py_True;
  Py_XDECREF(taken);
  return result;
}

static PyObject *outcome_of(int tried) {
  if (tried < 0)
    return NULL;
  Py_RETURN_TRUE;
}

static PyObject *call_varargs(const Method *method, PyObject *self, PyObject *args, PyObject *keywords) {
  VarargsFunction *original = (VarargsFunction *)(void (*)(void))method->original;
  PyObject *first[2] = {NULL, NULL}, *blocking = NULL, *timeout = NULL;
  Py_ssize_t n = PyTuple_Size(args), named = keywords ? PyDict_Size(keywords) : 0;
  for (Py_ssize_t i = 0; i < n && i < 2; i++)
    first[i] = PyTuple_GetItem(args, i);
  if (named) {
    blocking = PyDict_GetItemString(keywords, "blocking");
    timeout = PyDict_GetItemString(keywords, "timeout");
  }
  if (named != (blocking != NULL) + (timeout != NULL) || !may_wait(first, n, blocking, timeout))
    return original(self, args, keywords);
  int tried = try_lock(method, self);
  if (tried)
    return outcome_of(tried);
  Waiting waiting = wait_begins();
  PyObject *result = original(self, args, keywords);
  wait_ends(waiting);
  return result;
}

static PyObject *call_fast(const Method *method, PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
  FastFunction *original = (FastFunction *)(void (*)(void))method->original;
  PyObject *named[2] = {NULL, NULL};
  Py_ssize_t names_n = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t i = 0; i < names_n; i++) {
    PyObject *name = PyTuple_GetItem(names, i);
    bool is_blocking = !PyUnicode_CompareWithASCIIString(name, "blocking");
    if (!is_blocking && PyUnicode_CompareWithASCIIString(name, "timeout"))
      return original(self, args, n, names);
    named[!is_blocking] = args[n + i];
  }
  if (!may_wait(args, n, named[0], named[1]))
    return original(self, args, n, names);
  int tried = try_lock(method, self);
  if (tried)
    return outcome_of(tried);
  Waiting waiting = wait_begins();
  PyObject *result = original(self, args, n, names);
  wait_ends(waiting);
  return result;
}

static PyObject *call_noargs(const Method *method, PyObject *self) {
  int tried = try_lock(method, self);
  if (tried)
    return outcome_of(tried);
  Waiting waiting = wait_begins();
  PyObject *result = method->original(self, NULL);
  wait_ends(waiting);
  return result;
}

/* Return whether the thread holds the lock already. A lock that looks free is tried all the same: a
   thread that was just woken may take it first, and the wait for it would be missed. */
static inline bool is_at_once(int i, PyObject *self) {
  return (i == RLOCK_ACQUIRE || i == RLOCK_ENTER) && looks_mine(rlock_look, self);
}

/* A C function does not receive its method, so each method has one function per calling
   convention. */
#define FUNCTIONS(i)                                                                                  \
  static PyObject *varargs_##i(PyObject *self, PyObject *args, PyObject *keywords) {                  \
    if (is_at_once(i, self))                                                                          \
      return ((VarargsFunction *)(void (*)(void))methods[i].original)(self, args, keywords);          \
    return call_varargs(&methods[i], self, args, keywords);                                           \
  }                                                                                                   \
  static PyObject *fast_##i(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {   \
    if (is_at_once(i, self))                                                                          \
      return ((FastFunction *)(void (*)(void))methods[i].original)(self, args, n, names);             \
    return call_fast(&methods[i], self, args, n, names);                                              \
  }                                                                                                   \
  static PyObject *noargs_##i(PyObject *self, PyObject *nothing) {                                    \
    return is_at_once(i, self) ? methods[i].original(self, nothing) : call_noargs(&methods[i], self); \
  }

FUNCTIONS(0)
FUNCTIONS(1)
FUNCTIONS(2)
FUNCTIONS(3)
FUNCTIONS(4)
_Static_assert(METHODS == 5, "each method has its functions");

#define C(f) (PyCFunction)(void (*)(void)) f
static const PyCFunction varargs_functions[METHODS] = {C(varargs_0), C(varargs_1), C(varargs_2), C(varargs_3),
                                                       C(varargs_4)};
static const PyCFunction fast_functions[METHODS] = {C(fast_0), C(fast_1), C(fast_2), C(fast_3), C(fast_4)};
static const PyCFunction noargs_functions[METHODS] = {noargs_0, noargs_1, noargs_2, noargs_3, noargs_4};

/* NULL: the calling convention is not supported. */
static PyCFunction function_for(int i, int call) {
  if (call == (METH_VARARGS | METH_KEYWORDS))
    return varargs_functions[i];
  if (call == (METH_FASTCALL | METH_KEYWORDS))
    return fast_functions[i];
  return call == METH_NOARGS && methods[i].trial != i ? noargs_functions[i] : NULL;
}

static bool has_name(const PyMethodDef *method, const char *expected) {
  char name[16] = {0};
  size_t n = strlen(expected) + 1;
  return n <= sizeof name && peek(name, (uintptr_t)method->ml_name, n) && !memcmp(name, expected, n);
}

/* The layout of descriptors is not public, so the type and the name found there are checked. */
static bool find_method(int i, PyObject *type, PyObject *descriptor) {
  Method *method = &methods[i];
  uintptr_t of, at;
  PyMethodDef copy;
  if (!peek(&of, (uintptr_t)descriptor + DESCRIPTOR_OF, sizeof of) || of != (uintptr_t)type ||
      !peek(&at, (uintptr_t)descriptor + DESCRIPTOR_METHOD, sizeof at) || !peek(&copy, at, sizeof copy) ||
      !has_name(&copy, method->name))
    return false;
  method->at = (PyMethodDef *)at;
  method->original = copy.ml_meth;
  method->ours = function_for(i, copy.ml_flags & FLAGS_OF_CALL);
  return method->ours != NULL;
}

/* Written by the kernel, which returns an error where a plain write would crash: tables may be
   read-only. */
static bool set_function(const Method *method, PyCFunction function) {
  return poke((uintptr_t)&method->at->ml_meth, &function, sizeof function);
}

static bool can_be_set(void) {
  for (int i = 0; i < METHODS; i++)
    if (methods[i].at && !set_function(&methods[i], methods[i].original))
      return false;
  return true;
}

static bool find_in(int i, PyObject *module) {
  PyObject *type = PyObject_GetAttrString(module, methods[i].type);
  PyObject *descriptor = type ? PyObject_GetAttrString(type, methods[i].name) : NULL;
  bool found = descriptor ? find_method(i, type, descriptor) : methods[i].optional;
  Py_XDECREF(descriptor);
  Py_XDECREF(type);
  PyErr_Clear();
  return found;
}

static bool find_all(void) {
  PyObject *module = PyImport_ImportModule("_thread");
  bool found = module != NULL;
  for (int i = 0; found && i < METHODS; i++)
    found = find_in(i, module);
  if (found)
    learn_lock_looks(module, python.offsets.version);
  Py_XDECREF(module);
  PyErr_Clear();
  if (found && !only_false)
    only_false = Py_BuildValue("(O)", Py_False);
  return found && only_false;
}

const char *why_no_lock_methods(void) {
  static const char *problem;
  static bool examined;
  if (!examined && !find_all())
    problem = "the interpreter's locks are not as expected, or were replaced (gevent)";
  else if (!examined && !can_be_set())
    problem = "the methods of the interpreter's locks cannot be replaced: the kernel refuses process_vm_writev";
  examined = true;
  return problem;
}

const char *lock_methods_replace(void) {
  const char *problem = why_no_lock_methods();
  for (int i = 0; !problem && i < METHODS; i++)
    if (methods[i].at && !set_function(&methods[i], methods[i].ours))
      problem = "the methods of the interpreter's locks cannot be replaced";
  if (problem)
    lock_methods_restore();
  return problem;
}

void lock_methods_restore(void) {
  for (int i = 0; i < METHODS; i++)
    if (methods[i].at && methods[i].at->ml_meth == methods[i].ours)
      set_function(&methods[i], methods[i].original);
}
