#include "contention/lock_looks.h"

#include <semaphore.h>

#include "interpreter/offsets.h"

#define MUTEX_LOCKED 1

LockLook rlock_look;

static bool call(PyObject *lock, const char *method) {
  PyObject *result = PyObject_CallMethod(lock, method, NULL);
  Py_XDECREF(result);
  return result != NULL;
}

static bool looks_free(LockLook look, PyObject *lock) {
  const char *itself = (const char *)lock + LOCK_ITSELF;
  int value = 0;
  if (look == LOOK_BYTE)
    return !(__atomic_load_n(itself, __ATOMIC_RELAXED) & MUTEX_LOCKED);
  return !sem_getvalue((sem_t *)word_at(itself, 0), &value) && value > 0;
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

static bool looks_right(LockLook look, PyObject *lock) {
  bool right = looks_free(look, lock) && !looks_mine(look, lock);
  for (int turn = 0; right && turn < 2; turn++) {
    right = call(lock, "acquire") && !looks_free(look, lock) && looks_mine(look, lock);
    right = call(lock, "release") && looks_free(look, lock) && !looks_mine(look, lock) && right;
  }
  return right;
}

void learn_lock_looks(PyObject *module, int version) {
  LockLook expected = version < 0x030e ? LOOK_SEMAPHORE : LOOK_BYTE;
  PyObject *lock = PyObject_CallMethod(module, "RLock", NULL);
  bool readable = lock && fits(module, "RLock", lock, RLOCK_OWNER + 8) && can_be_read(expected, lock) &&
                  looks_right(expected, lock);
  Py_XDECREF(lock);
  PyErr_Clear();
  rlock_look = readable ? expected : LOOK_UNKNOWN;
}
