/* Python's allocators by domain. PyMem_SetAllocator is not in the stable ABI, so it is looked up
   by name. */
#ifndef FLAMEWATCH_ALLOCATORS_H
#define FLAMEWATCH_ALLOCATORS_H

#include <stdbool.h>
#include <stddef.h>

/* Values of PyMemAllocatorDomain. The raw domain may be used without the GIL. */
typedef enum Domain { DOMAIN_RAW, DOMAIN_MEM, DOMAIN_OBJECT, DOMAINS } Domain;

/* Layout of PyMemAllocatorEx. */
typedef struct Allocator {
  void *context;
  void *(*malloc)(void *context, size_t n);
  void *(*calloc)(void *context, size_t n, size_t size);
  void *(*realloc)(void *context, void *block, size_t n);
  void (*free)(void *context, void *block);
} Allocator;

/* Return NULL, or the reason why allocators cannot be replaced here. */
const char *why_no_allocators(void);

void get_allocator(Domain domain, Allocator *allocator);
void set_allocator(Domain domain, const Allocator *allocator);

/* Allocate and free through the topmost allocator of the domain, including hooks. */
void *ask_allocator(Domain domain, size_t n);
void return_to_allocator(Domain domain, void *block);

#endif
