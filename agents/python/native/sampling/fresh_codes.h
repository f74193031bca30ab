/* Code objects that the capture does not know yet, read by the signal handler.

   The body of a module runs once and is freed, often before the sampler thread drains the
   sample. In the handler it is on the stack of its own thread, and so alive. Codes that are in
   the capture's table are not read again: the handler checks a small set of fingerprints. */
#ifndef FLAMEWATCH_FRESH_CODES_H
#define FLAMEWATCH_FRESH_CODES_H

#include "capture/codes.h"
#include "interpreter/positions.h"

#define FRESH_BYTES (128 << 10) /* new codes of a sample; a long module's line table has 30 KB */

/* New codes of one sample. Its memory belongs to the sample's slot. */
typedef struct FreshCodes {
  Arena arena;
  int n;
  Code *first, *last;
} FreshCodes;

/* Forget all seen codes at the start of a capture. */
void fresh_codes_open(void);

/* Read the codes of `walk` that are not seen yet, the leaf's first. Async-signal-safe; a code takes
   about 5 µs, once per capture. Codes that do not fit are left to the drain, which may be too
   late. */
void fresh_codes_read(FreshCodes *fresh, const Walk *walk);

/* Move the codes to the capture's table, and empty `fresh`. */
void fresh_codes_move(FreshCodes *fresh, Codes *codes, Arena *arena);

#endif
