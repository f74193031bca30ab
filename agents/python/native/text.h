/* Copies of Python strings and bytes by their address. */
#ifndef FLAMEWATCH_TEXT_H
#define FLAMEWATCH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"

/* Characters as Python keeps them. */
typedef struct Text {
  int width; /* bytes a character: 1, 2 or 4; one-byte text is Latin-1 */
  size_t n;  /* characters */
  const char *data;
} Text;

typedef enum Copied { COPIED, COPY_FAILED, COPY_FULL } Copied;

#define TEXT_MAX 4096         /* characters of a name that are kept */
#define BYTES_MAX (256 << 10) /* a longer line table is left out: lines are unknown then */

Copied copy_text(Text *text, Arena *arena, uintptr_t address);
Copied copy_bytes(const char **data, size_t *n, Arena *arena, uintptr_t address);

/* The first `characters` of a string (64 at most) in UTF-8, without zeros; `to` has room for four bytes
   each. How many bytes there are; -1: it cannot be read. Async-signal-safe. */
int text_utf8(char *to, int characters, uintptr_t address);

/* Finds where strings keep their kind: that moved within one version. `samples` are the addresses
   of strings of 1, 1, 2 and 4 bytes a character, the first of them ASCII; all of length 1. */
bool calibrate_text(const uintptr_t samples[4]);

#endif
