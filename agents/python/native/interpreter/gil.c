#define PY_SSIZE_T_CLEAN
#include "interpreter/gil.h"

#include <Python.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpreter/offsets.h"
#include "interpreter/peek.h"

#define CALL_MAX 64 /* bytes of the number and the first argument of a system call, and more */
/* The GIL: interval, last holder, taken (an int), number of switches, and two pairs of a condition
   variable and a mutex. The same in all versions. */
enum { LAST_HOLDER = 8, TAKEN = 16, FIRST_WORD = 32, END = 208 };

static uintptr_t gil; /* 0: unknown */

/* Read "<number> <argument> <argument> …" in hexadecimal, or "running". The buffer ends with 0. */
static bool read_call(pid_t thread, char call[CALL_MAX]) {
  char path[48];
  snprintf(path, sizeof path, "/proc/self/task/%d/syscall", (int)thread);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = file < 0 ? -1 : read(file, call, CALL_MAX - 1);
  if (file >= 0)
    close(file);
  if (n > 0)
    call[n] = 0;
  return n > 0;
}

static uintptr_t find_address(void) {
  const Offsets *o = &python.offsets;
  uintptr_t address = 0;
  if (o->runtime_gil)
    return python.runtime + (uintptr_t)o->runtime_gil;
  return peek(&address, python.self + (uintptr_t)o->interp_gil, sizeof address) ? address : 0;
}

static bool is_held_by_caller(uintptr_t address) {
  char copy[FIRST_WORD];
  return address && peek(copy, address, sizeof copy) && int_at(copy, TAKEN) == 1 &&
         word_at(copy, LAST_HOLDER) == (uintptr_t)PyThreadState_Get();
}

const char *gil_find(void) {
  char call[CALL_MAX];
  uintptr_t address = find_address();
  gil = 0;
#ifndef __GLIBC__ /* others sleep on a word of the waiting thread's stack */
  return "waits for the GIL are found with glibc's condition variables only";
#endif
  if (!is_held_by_caller(address))
    return "the interpreter's GIL has an unknown layout";
  if (!read_call((pid_t)syscall(SYS_gettid), call))
    return "the kernel does not show the system calls of threads (/proc/self/task/*/syscall)";
  gil = address;
  return NULL;
}

bool gil_is_taken(void) {
  int taken;
  return gil && peek(&taken, gil + TAKEN, sizeof taken) && taken == 1;
}

static bool is_last_holder(uintptr_t ts) {
  uintptr_t holder;
  return peek(&holder, gil + LAST_HOLDER, sizeof holder) && holder == ts;
}

GilWait gil_look(pid_t thread, uintptr_t ts) {
  char call[CALL_MAX], *rest;
  if (!gil || is_last_holder(ts) || !read_call(thread, call))
    return GIL_NOT_AWAITED;
  if (call[0] == 'r') /* "running": it has a core, or waits for one */
    return GIL_UNCLEAR;
  if (strtol(call, &rest, 10) != SYS_futex)
    return GIL_NOT_AWAITED;
  uintptr_t word = strtoul(rest, NULL, 16);
  return word >= gil + FIRST_WORD && word < gil + END ? GIL_AWAITED : GIL_NOT_AWAITED;
}
