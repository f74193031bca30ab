/* Python's allocators, by domain. PyMem_SetAllocator is outside the stable ABI: it is found by name. */
#ifndef FLAMEWATCH_ALLOCATORS_H
#define FLAMEWATCH_ALLOCATORS_H

#include <stdbool.h>
#include <stddef.h>

/* As PyMemAllocatorDomain. The raw one may be used without the GIL. */
typedef enum Domain { DOMAIN_RAW, DOMAIN_MEM, DOMAIN_OBJECT, DOMAINS } Domain;

/* As PyMemAllocatorEx. */
typedef struct Allocator {
  void *context;
  void *(*malloc)(void *context, size_t n);
  void *(*calloc)(void *context, size_t n, size_t size);
  void *(*realloc)(void *context, void *block, size_t n);
  void (*free)(void *context, void *block);
} Allocator;

/* NULL, or why allocators cannot be replaced here. */
const char *why_no_allocators(void);

void get_allocator(Domain domain, Allocator *allocator);
void set_allocator(Domain domain, const Allocator *allocator);

/* A request to the domain, by the top of whatever is installed, and its return. */
void *ask_allocator(Domain domain, size_t n);
void return_to_allocator(Domain domain, void *block);

#endif
