/* Reads of the process's own memory that fail instead of crashing.

   process_vm_readv on the own process returns EFAULT for an unmapped address. So the sampler can
   follow the interpreter's pointers while other threads change them. All functions that read or
   write are async-signal-safe, and may change errno. */
#ifndef FLAMEWATCH_PEEK_H
#define FLAMEWATCH_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* Call at start, and in the child after a fork. */
void peek_set_pid(void);

bool peek(void *to, uintptr_t from, size_t n);

/* Read all n ranges, or return false. `total` is the sum of their lengths. */
bool peek_many(const struct iovec *to, const struct iovec *from, unsigned n, size_t total);

/* Write n bytes, or return false where memory is read-only. */
bool poke(uintptr_t to, const void *from, size_t n);

static inline uintptr_t word_at(const void *base, long offset) {
  uintptr_t word;
  __builtin_memcpy(&word, (const char *)base + offset, sizeof word);
  return word;
}

static inline int32_t int_at(const void *base, long offset) {
  int32_t number;
  __builtin_memcpy(&number, (const char *)base + offset, sizeof number);
  return number;
}

#endif
