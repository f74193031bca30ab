/* Test whether the calling thread holds a recursive lock by reading its memory, without touching
   it: such a call does not wait, and need not be tried first. */
#ifndef FLAMEWATCH_LOCK_LOOKS_H
#define FLAMEWATCH_LOCK_LOOKS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "interpreter/peek.h"

/* Layout: PyObject's header, then the lock itself, then the owner of a recursive lock. */
enum { LOCK_ITSELF = 16, RLOCK_OWNER = 24 };

typedef enum LockLook {
  LOOK_UNKNOWN,   /* no lock is reported as the thread's own */
  LOOK_SEMAPHORE, /* a pointer to a semaphore: up to 3.13 */
  LOOK_BYTE,      /* a PyMutex: 3.14 and later */
} LockLook;

extern LockLook rlock_look;

/* Determine the layout of recursive locks, and check it with a new one. `module` is _thread. */
void learn_lock_looks(PyObject *module, int version);

/* Reliable without a lock: no other thread can make the calling thread the owner. */
static inline bool looks_mine(LockLook look, PyObject *rlock) {
  return look != LOOK_UNKNOWN && word_at(rlock, RLOCK_OWNER) == (uintptr_t)pthread_self();
}

#endif
