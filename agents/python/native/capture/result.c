#include "capture/result.h"

#include <string.h>

enum { STACK_COLUMNS = 8 };

static const char *const KINDS[] = {"cpu", "wall", "threads", "contention"};

/* "surrogatepass": like any Python string, names may contain lone surrogates. */
static PyObject *text_object(const Text *text) {
  int order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? -1 : 1;
  Py_ssize_t bytes = (Py_ssize_t)text->n * text->width;
  if (text->width == 1)
    return PyUnicode_DecodeLatin1(text->data, bytes, NULL);
  if (text->width == 2)
    return PyUnicode_DecodeUTF16(text->data, bytes, "surrogatepass", &order);
  return PyUnicode_DecodeUTF32(text->data, bytes, "surrogatepass", &order);
}

static PyObject *code_object(const Code *code) {
  PyObject *name = text_object(&code->name), *file = text_object(&code->file);
  if (!name || !file) {
    Py_XDECREF(name);
    Py_XDECREF(file);
    return NULL;
  }
  return Py_BuildValue("(NNiy#)", name, file, (int)code->first_line, code->line_table,
                       (Py_ssize_t)code->line_table_bytes);
}

PyObject *codes_object(const Codes *codes) {
  PyObject *list = PyList_New(codes->n);
  Py_ssize_t i = 0;
  for (const Code *code = codes->first; list && code; code = code->newer) {
    PyObject *item = code_object(code);
    if (!item || PyList_SetItem(list, i++, item))
      Py_CLEAR(list);
  }
  return list;
}

PyObject *stacks_object(const Stacks *stacks) {
  PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)stacks->n * STACK_COLUMNS * 8);
  int64_t *row = bytes ? (int64_t *)PyBytes_AsString(bytes) : NULL, first = 0;
  for (const Stack *stack = stacks->first; row && stack; stack = stack->newer, row += STACK_COLUMNS) {
    const int64_t values[STACK_COLUMNS] = {stack->thread, stack->value, stack->count, first,
                                           stack->depth,  stack->cut,   stack->label, stack->waits_for_gil};
    memcpy(row, values, sizeof values);
    first += stack->depth;
  }
  return bytes;
}

static PyObject *labels_object(const Labels *labels) {
  PyObject *list = PyList_New(labels->n);
  Py_ssize_t i = 0;
  for (const Label *label = labels->first; list && label; label = label->newer) {
    PyObject *text = PyBytes_FromStringAndSize(label->text, label->n);
    if (!text || PyList_SetItem(list, i++, text))
      Py_CLEAR(list);
  }
  return list;
}

PyObject *frames_object(const Stacks *stacks) {
  PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(stacks->frames * sizeof(Frame)));
  char *at = bytes ? PyBytes_AsString(bytes) : NULL;
  for (const Stack *stack = stacks->first; at && stack; stack = stack->newer) {
    memcpy(at, stack->frames, stack->depth * sizeof(Frame));
    at += stack->depth * sizeof(Frame);
  }
  return bytes;
}

static PyObject *counts_object(const Counts *c) {
  return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L,s:L}", "ticks", (long long)c->ticks,
                       "samples", (long long)c->samples, "reused", (long long)c->reused, "torn", (long long)c->torn,
                       "no_slot", (long long)c->no_slot, "table_full", (long long)c->table_full, "cut",
                       (long long)c->cut, "unarmed", (long long)c->unarmed, "signal_taken", (long long)c->signal_taken,
                       "overdue", (long long)c->overdue, "labels_full", (long long)c->labels_full, "lost",
                       (long long)c->lost, "tried", (long long)c->tried, "idle", (long long)c->idle, "gil_waits",
                       (long long)c->gil_waits);
}

int put(PyObject *result, const char *key, PyObject *value) {
  int failed = value ? PyDict_SetItemString(result, key, value) : -1;
  Py_XDECREF(value);
  return failed;
}

PyObject *result_of(const Capture *capture) {
  PyObject *result = Py_BuildValue(
      "{s:s,s:L,s:L,s:L,s:L,s:n}", "kind", KINDS[capture->options.kind], "period_ns",
      (long long)capture->options.period_ns, "started_ns", (long long)capture->started_unix_ns, "duration_ns",
      (long long)(capture->ended_ns - capture->started_ns), "sampler_cpu_ns", (long long)capture->sampler_cpu_ns,
      "memory_bytes", (Py_ssize_t)(capture->arena.used + capture->memory_bytes));
  if (!result)
    return NULL;
  if (put(result, "stacks", stacks_object(&capture->stacks)) ||
      put(result, "frames", frames_object(&capture->stacks)) || put(result, "codes", codes_object(&capture->codes)) ||
      put(result, "labels", labels_object(&capture->labels)) || put(result, "counts", counts_object(&capture->counts)))
    Py_CLEAR(result);
  return result;
}
