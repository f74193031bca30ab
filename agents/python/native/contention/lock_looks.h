/* Test whether a lock is free by reading its memory, without touching it.

   A free lock is the usual case, and a call that finds one need not be tried first: it goes
   directly to the original method. The result holds only at that moment: a thread that was just
   woken may take the lock right afterwards, so the start of one wait in some thousands is
   missed. */
#ifndef FLAMEWATCH_LOCK_LOOKS_H
#define FLAMEWATCH_LOCK_LOOKS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "interpreter/peek.h"

/* Layout: PyObject's header, then the lock itself, then the owner of a recursive lock. */
enum { LOCK_ITSELF = 16, RLOCK_OWNER = 24 };
#define MUTEX_LOCKED 1

typedef enum LockLook {
  LOOK_UNKNOWN,   /* no lock is reported as free */
  LOOK_SEMAPHORE, /* a pointer to a semaphore: up to 3.13 */
  LOOK_BYTE,      /* a PyMutex: 3.14 and later */
} LockLook;

extern LockLook lock_look, rlock_look;

/* Determine the layout of both kinds of locks, and check it with new ones. `module` is _thread. */
void learn_lock_looks(PyObject *module, int version);

static inline bool looks_free(LockLook look, PyObject *lock) {
  const char *itself = (const char *)lock + LOCK_ITSELF;
  int value = 0;
  if (look == LOOK_BYTE)
    return !(__atomic_load_n(itself, __ATOMIC_RELAXED) & MUTEX_LOCKED);
  return look == LOOK_SEMAPHORE && !sem_getvalue((sem_t *)word_at(itself, 0), &value) && value > 0;
}

/* Reliable without a lock: no other thread can make the calling thread the owner. */
static inline bool looks_mine(LockLook look, PyObject *rlock) {
  return look != LOOK_UNKNOWN && word_at(rlock, RLOCK_OWNER) == (uintptr_t)pthread_self();
}

#endif
