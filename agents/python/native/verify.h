/* Check of whether this interpreter can be sampled, made once before the first capture, with the
   GIL. */
#ifndef FLAMEWATCH_VERIFY_H
#define FLAMEWATCH_VERIFY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Return NULL, or the reason why not. Never leaves a Python exception set. */
const char *why_unsupported(void);

/* Return NULL, or the reason why waits for the GIL cannot be seen in WALL profiles. */
const char *why_no_gil_waits(void);

#endif
