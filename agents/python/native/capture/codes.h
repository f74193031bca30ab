/* Code objects of one capture: name, file, line table, read when first met.

   An address is no identity, because code objects are freed and their addresses reused. So the
   head of the object (constants, names, flags, file, name, line table) is part of the key. */
#ifndef FLAMEWATCH_CODES_H
#define FLAMEWATCH_CODES_H

#include <stdint.h>

#include "base/arena.h"
#include "interpreter/positions.h"
#include "interpreter/text.h"

#define CODE_BUCKETS 4096

typedef struct Code {
  uintptr_t address;
  uint32_t id;
  int32_t first_line;
  bool hidden; /* internal to the interpreter; tracebacks hide it too */
  Text name, file;
  const char *line_table;
  size_t line_table_bytes;
  struct Code *next, *newer;
  char head[HEAD_MAX];
} Code;

typedef struct Codes {
  uint32_t n; /* visible codes have ids 0..n-1, in the order of the list */
  Code *first, *last, *freed;
  Code **buckets;
} Codes;

typedef enum CodeFound { CODE_OK, CODE_HIDDEN, CODE_FULL } CodeFound;

bool codes_open(Codes *codes, Arena *arena);
/* Find or add the code of `position`. A CPU sample's code may be freed before its name is read, if
   the handler had no room for it (fresh_codes.h). Such codes share one entry, "[freed code]", so
   that the sample and its callers are not lost. */
CodeFound code_find(Codes *codes, Arena *arena, const CodePosition *position, uint32_t *id);

/* Read the code object of `position` into `arena`, outside any table. Return NULL if it has been
   freed, or if there is no room. Async-signal-safe. */
Code *code_read(Arena *arena, const CodePosition *position);

/* Put a copy of `code` into the table unless it is there. Return false if the arena is full. */
bool code_learn(Codes *codes, Arena *arena, const Code *code);

/* Hash of the identity of a code object: its address and head. Never 0. */
uint64_t code_fingerprint(uintptr_t address, const char *head);

/* Add a copy to another table that does not have it yet. Return NULL if the arena is full. */
const Code *code_copy(Codes *to, Arena *arena, const Code *code);

#endif
