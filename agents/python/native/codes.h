/* The code objects of one capture: name, file, line table, read when first met.

   An address alone is no identity: code objects die and others take their place. So the head of
   the object (constants, names, flags, file, name, line table) is part of the key. */
#ifndef FLAMEWATCH_CODES_H
#define FLAMEWATCH_CODES_H

#include <stdint.h>

#include "arena.h"
#include "text.h"
#include "walk.h"

#define CODE_BUCKETS 4096

typedef struct Code {
  uintptr_t address;
  uint32_t id;
  int32_t first_line;
  bool hidden; /* a part of the interpreter, which tracebacks don't show either */
  Text name, file;
  const char *line_table;
  size_t line_table_bytes;
  struct Code *next, *newer;
  char head[HEAD_MAX];
} Code;

typedef struct Codes {
  uint32_t n; /* the visible ones have ids 0..n-1, in the order of the list */
  Code *first, *last, *freed;
  Code **buckets;
} Codes;

typedef enum CodeFound { CODE_OK, CODE_HIDDEN, CODE_FULL } CodeFound;

bool codes_open(Codes *codes, Arena *arena);
/* A CPU sample's code may be freed before its name is read, if the handler had no room for it
   (fresh_codes.h): that is one code of the name "[freed code]", so that the sample and its callers are
   not lost. */
CodeFound code_find(Codes *codes, Arena *arena, const Place *place, uint32_t *id);

/* Read the code object of `place` into `arena`, outside any table. NULL: it has been freed, or there
   is no room. Async-signal-safe. */
Code *code_read(Arena *arena, const Place *place);

/* Put a copy of `code` into the table unless it is there. False: the arena is full. */
bool code_learn(Codes *codes, Arena *arena, const Code *code);

/* Hash of what makes a code object itself: its address and head. Never 0. */
uint64_t code_fingerprint(uintptr_t address, const char *head);

/* The same code in another table, where it was not yet; NULL: the arena is full. */
const Code *code_copy(Codes *to, Arena *arena, const Code *code);

#endif
