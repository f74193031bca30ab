/* Reads of our own memory that fail instead of crashing.

   process_vm_readv on ourselves answers EFAULT for an address that is gone. That is what makes it
   possible to follow the interpreter's pointers while other threads change them. Both functions
   are async-signal-safe; both may change errno. */
#ifndef FLAMEWATCH_PEEK_H
#define FLAMEWATCH_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* To be called at start, and in the child after a fork. */
void peek_set_pid(void);

bool peek(void *to, uintptr_t from, size_t n);

/* All n ranges, or false. `total` is the sum of their lengths. */
bool peek_many(const struct iovec *to, const struct iovec *from, unsigned n, size_t total);

/* Writes n bytes, or nothing: false where memory is read-only. */
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
