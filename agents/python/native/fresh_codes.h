/* Code objects that a CPU sample is the first to meet, read by the signal handler.

   The body of a module runs once and is freed, often before the sampler thread drains the sample. In
   the handler it is on the stack of its own thread, and so alive. What the capture's table has already
   is not read again: the handler asks a small set of fingerprints. */
#ifndef FLAMEWATCH_FRESH_CODES_H
#define FLAMEWATCH_FRESH_CODES_H

#include "codes.h"
#include "walk.h"

#define FRESH_BYTES (128 << 10) /* of one sample's new codes; the line table of a long module has 30 KB */

/* The codes of one sample; its memory belongs to the sample's slot. */
typedef struct FreshCodes {
  Arena arena;
  int n;
  Code *first, *last;
} FreshCodes;

/* A capture begins: no code is known. */
void fresh_codes_open(void);

/* Read the codes of `walk` that are not known, the leaf's first. Async-signal-safe; a code takes about
   5 µs, once in a capture. What finds no room is left to the drain, which may come too late. */
void fresh_codes_read(FreshCodes *fresh, const Walk *walk);

/* Move them into the capture's table, and empty `fresh`. */
void fresh_codes_move(FreshCodes *fresh, Codes *codes, Arena *arena);

#endif
