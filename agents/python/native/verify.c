#include "verify.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpreter/gil.h"
#include "interpreter/peek.h"
#include "interpreter/positions.h"
#include "interpreter/text.h"
#include "own_stack.h"

#define DEPTH 64

/* Debug builds have larger object headers; free-threaded builds have another layout. */
static const char *unsuitable_build(void) {
  const char *problem = NULL;
  PyObject *flags = PySys_GetObject("abiflags"); /* borrowed */
  PyObject *bytes = flags ? PyUnicode_AsASCIIString(flags) : NULL;
  const char *letters = bytes ? PyBytes_AsString(bytes) : "";
  if (strchr(letters, 'd') || PySys_GetObject("gettotalrefcount"))
    problem = "debug builds of Python are not supported";
  else if (strchr(letters, 't'))
    problem = "free-threaded builds of Python are not supported";
  Py_XDECREF(bytes);
  PyErr_Clear();
  return problem;
}

static bool fit_buffers(const Offsets *o) {
  int head = o->code_line_table + 8 - HEAD_START;
  return thread_state_bytes(o) <= THREAD_STATE_MAX && o->frame_size <= (int)sizeof(((Walk *)0)->frame) &&
         o->frame_owner < o->frame_size && head > 0 && head <= HEAD_MAX && o->code_file < o->code_line_table;
}

static const char *find_interpreter(void) {
  const unsigned long *version = dlsym(RTLD_DEFAULT, "Py_Version");
  const char *runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
  python.code_type = (uintptr_t)dlsym(RTLD_DEFAULT, "PyCode_Type");
  python.runtime = (uintptr_t)runtime;
  python.self = (uintptr_t)PyInterpreterState_Get();
  if (!version || !runtime || !python.code_type)
    return "the interpreter's symbols are not visible";
  const char *problem = find_offsets(&python.offsets, (int)(*version >> 16), runtime);
  if (!problem && !fit_buffers(&python.offsets))
    problem = "the interpreter's structures are larger than expected";
  return problem;
}

static const char *cannot_peek(void) {
  static char reason[120];
  uintptr_t copy;
  peek_set_pid();
  if (peek(&copy, (uintptr_t)&python.code_type, sizeof copy) && copy == python.code_type)
    return NULL;
  snprintf(reason, sizeof reason, "the kernel refuses process_vm_readv (%s); a seccomp profile may forbid it",
           strerror(errno));
  return reason;
}

static const char *cannot_read_text(void) {
  static const char *const examples[4] = {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9d\x84\x9e"};
  PyObject *strings[4] = {0};
  uintptr_t addresses[4];
  bool made = true;
  for (int i = 0; i < 4; i++) {
    strings[i] = PyUnicode_FromString(examples[i]);
    addresses[i] = (uintptr_t)strings[i];
    made = made && strings[i];
  }
  bool read = made && calibrate_text(addresses);
  for (int i = 0; i < 4; i++)
    Py_XDECREF(strings[i]);
  PyErr_Clear();
  return read ? NULL : "the interpreter's strings have an unknown layout";
}

static const char *cannot_walk(void) {
  Walk *walk = malloc(walk_bytes(DEPTH));
  if (!walk)
    return "there is no memory";
  walk->max_depth = DEPTH;
  bool same = walk_own_stack(walk) && is_own_stack(walk);
  free(walk);
  return same ? NULL : "reading its own stack gave another one than the interpreter's";
}

static const char *examine(void) {
#if !defined(__linux__) || !defined(__LP64__)
  return "only 64-bit Linux is supported";
#endif
  const char *problem = unsuitable_build();
  if (!problem)
    problem = find_interpreter();
  if (!problem)
    problem = cannot_peek();
  if (!problem)
    problem = cannot_read_text();
  return problem ? problem : cannot_walk();
}

static const char *no_gil_waits;

const char *why_unsupported(void) {
  static bool examined;
  static const char *problem;
  if (!examined) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    problem = examine();
    no_gil_waits = problem ? problem : gil_find();
    PyErr_Restore(type, value, trace);
    examined = true;
  }
  return problem;
}

const char *why_no_gil_waits(void) {
  why_unsupported();
  return no_gil_waits;
}
