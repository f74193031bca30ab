/* Can this interpreter be sampled? Asked once, before the first capture, with the GIL. */
#ifndef FLAMEWATCH_VERIFY_H
#define FLAMEWATCH_VERIFY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* NULL, or why not. Never leaves a Python exception behind. */
const char *why_unsupported(void);

#endif
