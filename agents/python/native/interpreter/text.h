/* Copies of Python strings and bytes objects by address. */
#ifndef FLAMEWATCH_TEXT_H
#define FLAMEWATCH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* Characters in CPython's representation. */
typedef struct Text {
  int width; /* bytes per character: 1, 2 or 4; one-byte text is Latin-1 */
  size_t n;  /* characters */
  const char *data;
} Text;

typedef enum Copied { COPIED, COPY_FAILED, COPY_FULL } Copied;

#define TEXT_MAX 4096         /* characters of a name; the rest is cut off */
#define BYTES_MAX (256 << 10) /* a longer line table is left out: its lines are unknown */

Copied copy_text(Text *text, Arena *arena, uintptr_t address);
Copied copy_bytes(const char **data, size_t *n, Arena *arena, uintptr_t address);

/* Convert the first `characters` of a string (64 at most) to UTF-8 without zero bytes; `to` has
   room for four bytes each. Return the number of bytes, or -1 if the string cannot be read.
   Async-signal-safe. */
int text_utf8(char *to, int characters, uintptr_t address);

/* Find the position of the kind in strings, which moved within one version. `samples` are the
   addresses of strings of 1, 1, 2 and 4 bytes per character, the first of them ASCII; all of
   length 1. */
bool calibrate_text(const uintptr_t samples[4]);

#endif
