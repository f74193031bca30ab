/* The distinct label texts of one capture. What a text says is Python's business. */
#ifndef FLAMEWATCH_LABELS_H
#define FLAMEWATCH_LABELS_H

#include <stdint.h>

#include "arena.h"

#define LABELS_MAX 256 /* a profile with more is no overview any more, and costs the server storage */

typedef struct Label {
  uint32_t id; /* from 1 */
  int n;
  struct Label *newer;
  char text[];
} Label;

typedef struct Labels {
  uint32_t n;
  Label *first, *last;
} Labels;

/* The text's id. 0: there is no text, or no place for another (then `*full` is counted up). */
uint32_t label_find(Labels *labels, Arena *arena, const char *text, int n, int64_t *full);

#endif
