#define PY_SSIZE_T_CLEAN
#include "own_stack.h"

#include <Python.h>
#include <string.h>

#include "capture/codes.h"
#include "interpreter/peek.h"
#include "interpreter/walk.h"

bool walk_own_stack(Walk *walk) {
  return walk_read_state(walk, (uintptr_t)PyThreadState_Get()) && walk_frames(walk) == WALK_OK;
}

static bool has_number(PyObject *object, const char *name, long expected) {
  PyObject *attribute = PyObject_GetAttrString(object, name);
  bool same = attribute && PyLong_AsLong(attribute) == expected && !PyErr_Occurred();
  Py_XDECREF(attribute);
  return same;
}

static bool has_object(PyObject *object, const char *name, uintptr_t expected) {
  PyObject *attribute = PyObject_GetAttrString(object, name);
  bool same = (uintptr_t)attribute == expected;
  Py_XDECREF(attribute);
  return same;
}

static bool is_frame(PyObject *frame, PyObject *code, const CodePosition *position) {
  const Offsets *o = &python.offsets;
  return (uintptr_t)code == position->code && has_number(frame, "f_lasti", position->offset) &&
         has_object(code, "co_qualname", word_at(position->head, o->code_name - HEAD_START)) &&
         has_object(code, "co_filename", word_at(position->head, o->code_file - HEAD_START)) &&
         has_object(code, "co_linetable", word_at(position->head, o->code_line_table - HEAD_START)) &&
         has_number(code, "co_firstlineno", int_at(position->head, o->code_first_line - HEAD_START));
}

/* Return the next position that a traceback shows as well: the interpreter hides its own stubs. */
static int next_visible(const Walk *walk, int i, const PyObject *code) {
  while (i < walk->depth && walk->positions[i].code != (uintptr_t)code)
    i++;
  return i;
}

bool is_own_stack(const Walk *walk) {
  PyObject *frame = (PyObject *)PyThreadState_GetFrame(PyThreadState_Get());
  bool same = frame != NULL;
  int i = 0, hidden = 0;
  while (same && frame != Py_None && i < walk->depth) {
    PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
    int at = next_visible(walk, i, code);
    hidden += at - i;
    same = at < walk->depth && is_frame(frame, code, &walk->positions[at]);
    i = at + 1;
    PyObject *caller = PyObject_GetAttrString(frame, "f_back");
    Py_DECREF(code);
    Py_DECREF(frame);
    frame = caller;
    same = same && frame;
  }
  same = same && (walk->cut || frame == Py_None) && hidden <= i / 2;
  Py_XDECREF(frame);
  PyErr_Clear();
  return same;
}
