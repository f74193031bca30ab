/* Can a lock be taken at once? Told by a look at it, without touching it.

   A free lock is the usual case, and a call that finds one need not be tried out: it goes to the
   original as it came. A look is right at its moment. Who was woken may take the lock right after
   it, so a wait in some thousands is not seen to begin. */
#ifndef FLAMEWATCH_LOCK_LOOKS_H
#define FLAMEWATCH_LOCK_LOOKS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "peek.h"

/* PyObject's head comes first, then the lock itself, then a recursive one's owner. */
enum { LOCK_ITSELF = 16, RLOCK_OWNER = 24 };
#define MUTEX_LOCKED 1

typedef enum LockLook {
  LOOK_UNKNOWN,   /* no lock is said to be free */
  LOOK_SEMAPHORE, /* a pointer to one: to 3.13 */
  LOOK_BYTE,      /* a PyMutex: from 3.14 on */
} LockLook;

extern LockLook lock_look, rlock_look;

/* Finds out how both kinds look, and tries it on new ones. `module` is _thread. */
void learn_lock_looks(PyObject *module, int version);

static inline bool looks_free(LockLook look, PyObject *lock) {
  const char *itself = (const char *)lock + LOCK_ITSELF;
  int value = 0;
  if (look == LOOK_BYTE)
    return !(__atomic_load_n(itself, __ATOMIC_RELAXED) & MUTEX_LOCKED);
  return look == LOOK_SEMAPHORE && !sem_getvalue((sem_t *)word_at(itself, 0), &value) && value > 0;
}

/* Nobody else's hands put it into mine. */
static inline bool looks_mine(LockLook look, PyObject *rlock) {
  return look != LOOK_UNKNOWN && word_at(rlock, RLOCK_OWNER) == (uintptr_t)pthread_self();
}

#endif
