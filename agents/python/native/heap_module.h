/* Python functions of HEAP and HEAP_ALLOC. Their contracts are in src/flamewatch/_native.pyi. */
#ifndef FLAMEWATCH_HEAP_MODULE_H
#define FLAMEWATCH_HEAP_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyMethodDef heap_methods[];

#endif
