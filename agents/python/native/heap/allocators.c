#include "heap/allocators.h"

#include <dlfcn.h>

typedef void Access(int domain, Allocator *allocator);

static Access *get, *set;
static void *(*mallocs[DOMAINS])(size_t);
static void (*frees[DOMAINS])(void *);

static bool find_requests(void) {
  static const char *const names[DOMAINS][2] = {
      {"PyMem_RawMalloc", "PyMem_RawFree"}, {"PyMem_Malloc", "PyMem_Free"}, {"PyObject_Malloc", "PyObject_Free"}};
  bool found = true;
  for (int i = 0; i < DOMAINS; i++) {
    *(void **)&mallocs[i] = dlsym(RTLD_DEFAULT, names[i][0]);
    *(void **)&frees[i] = dlsym(RTLD_DEFAULT, names[i][1]);
    found = found && mallocs[i] && frees[i];
  }
  return found;
}

const char *why_no_allocators(void) {
  if (!get) {
    *(void **)&get = dlsym(RTLD_DEFAULT, "PyMem_GetAllocator");
    *(void **)&set = dlsym(RTLD_DEFAULT, "PyMem_SetAllocator");
  }
  return get && set && find_requests()
             ? NULL
             : "the interpreter's allocators cannot be replaced (PyMem_SetAllocator is missing)";
}

void get_allocator(Domain domain, Allocator *allocator) { get((int)domain, allocator); }

void set_allocator(Domain domain, const Allocator *allocator) {
  Allocator copy = *allocator;
  set((int)domain, &copy);
}

void *ask_allocator(Domain domain, size_t n) { return mallocs[domain](n); }

void return_to_allocator(Domain domain, void *block) { frees[domain](block); }
