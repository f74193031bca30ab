#include "contention/lock_looks.h"

#include "interpreter/offsets.h"

LockLook lock_look, rlock_look;

static bool call(PyObject *lock, const char *method) {
  PyObject *result = PyObject_CallMethod(lock, method, NULL);
  Py_XDECREF(result);
  return result != NULL;
}

static bool fits(PyObject *module, const char *name, PyObject *lock, int needed) {
  PyObject *type = PyObject_GetAttrString(module, name);
  PyObject *size = type ? PyObject_GetAttrString(type, "__basicsize__") : NULL;
  bool fit = size && (PyObject *)Py_TYPE(lock) == type && PyLong_AsLong(size) >= needed;
  Py_XDECREF(size);
  Py_XDECREF(type);
  return fit;
}

/* Check the memory that later reads access without checks. */
static bool can_be_read(LockLook look, PyObject *lock) {
  uintptr_t at;
  sem_t copy;
  return look == LOOK_BYTE || (peek(&at, (uintptr_t)lock + LOCK_ITSELF, sizeof at) && peek(&copy, at, sizeof copy));
}

static bool looks_right(LockLook look, PyObject *lock, bool recursive) {
  bool right = looks_free(look, lock) && !(recursive && looks_mine(look, lock));
  for (int turn = 0; right && turn < 2; turn++) {
    right = call(lock, "acquire") && !looks_free(look, lock) && (!recursive || looks_mine(look, lock));
    right = call(lock, "release") && looks_free(look, lock) && !(recursive && looks_mine(look, lock)) && right;
  }
  return right;
}

static LockLook learn(PyObject *module, const char *maker, const char *type, LockLook expected, bool recursive) {
  PyObject *lock = PyObject_CallMethod(module, maker, NULL);
  bool readable = lock && fits(module, type, lock, recursive ? RLOCK_OWNER + 8 : LOCK_ITSELF + 8) &&
                  can_be_read(expected, lock) && looks_right(expected, lock, recursive);
  Py_XDECREF(lock);
  PyErr_Clear();
  return readable ? expected : LOOK_UNKNOWN;
}

void learn_lock_looks(PyObject *module, int version) {
  LockLook expected = version < 0x030e ? LOOK_SEMAPHORE : LOOK_BYTE;
  lock_look = learn(module, "allocate_lock", "LockType", expected, false);
  rlock_look = learn(module, "RLock", "RLock", expected, true);
}
