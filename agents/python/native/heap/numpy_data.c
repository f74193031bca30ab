#include "heap/numpy_data.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

#include "heap/heap.h"
#include "interpreter/peek.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)

/* Indexes in NumPy's function table, which never change. */
enum { FEATURE_VERSION = 211, DEFAULT_HANDLER = 306, TABLE_WITH_HANDLER = 0xf };

typedef struct Functions {
  void *(*malloc)(void *context, size_t n);
  void *(*calloc)(void *context, size_t n, size_t size);
  void *(*realloc)(void *context, void *block, size_t n);
  void (*free)(void *context, void *block, size_t n);
} Functions;

/* Layout of PyDataMem_Handler, version 1. */
typedef struct Handler {
  char name[127];
  uint8_t version;
  void *context;
  Functions functions;
} Handler;

static Handler *handler; /* NULL: not found so far */
static Functions under;

static void *counted(void *block, size_t n) {
  if (!block)
    countdown.left += (int64_t)n;
  else if (countdown.left < 0)
    heap_sample(block, n, false);
  return block;
}

static void *data_malloc(void *context, size_t n) {
  countdown.left -= (int64_t)n;
  return counted(under.malloc(context, n), n);
}

static void *data_calloc(void *context, size_t n, size_t size) {
  countdown.left -= (int64_t)(n * size);
  return counted(under.calloc(context, n, size), n * size);
}

static void *data_realloc(void *context, void *old, size_t n) {
  Taken taken;
  bool was_sampled = old && may_be_sampled(old) && heap_take(old, &taken);
  countdown.left -= (int64_t)n;
  void *block = counted(under.realloc(context, old, n), n);
  if (was_sampled && !block)
    heap_put_back(&taken);
  return block;
}

static void data_free(void *context, void *block, size_t n) {
  Taken taken;
  if (!LIKELY(!may_be_sampled(block)))
    heap_take(block, &taken);
  under.free(context, block, n);
}

static const Functions ours = {data_malloc, data_calloc, data_realloc, data_free};

static void *table_of(PyObject *modules, const char *name) {
  PyObject *module = PyDict_GetItemString(modules, name); /* borrowed */
  PyObject *capsule = module ? PyObject_GetAttrString(module, "_ARRAY_API") : NULL;
  void *table = capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
  Py_XDECREF(capsule);
  PyErr_Clear();
  return table;
}

static Handler *handler_in(void **table) {
  unsigned (*version)(void);
  *(void **)&version = table[FEATURE_VERSION];
  if (!version || version() < TABLE_WITH_HANDLER)
    return NULL;
  PyObject **capsule = table[DEFAULT_HANDLER];
  Handler *found = capsule && *capsule ? PyCapsule_GetPointer(*capsule, "mem_handler") : NULL;
  PyErr_Clear();
  return found && found->version == 1 && !strcmp(found->name, "default_allocator") ? found : NULL;
}

static Handler *find_handler(void) {
  PyObject *modules = PySys_GetObject("modules"); /* borrowed */
  void **table = modules ? table_of(modules, "numpy._core._multiarray_umath") : NULL;
  if (!table && modules)
    table = table_of(modules, "numpy.core._multiarray_umath");
  return table ? handler_in(table) : NULL;
}

static bool is_in(void) { return handler && handler->functions.malloc == ours.malloc; }

bool numpy_put_in(void) {
  if (!handler)
    handler = find_handler();
  if (!handler || is_in())
    return handler != NULL;
  under = handler->functions;
  return poke((uintptr_t)&handler->functions, &ours, sizeof ours);
}

void numpy_take_out(void) {
  if (is_in())
    poke((uintptr_t)&handler->functions, &under, sizeof under);
}
