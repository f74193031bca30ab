/* Distinct encoded label sets of one capture. Only the Python part interprets their text. */
#ifndef FLAMEWATCH_LABELS_H
#define FLAMEWATCH_LABELS_H

#include <stdint.h>

#include "base/arena.h"

#define LABELS_MAX 256 /* a profile with more is no overview, and costs the server storage */

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

/* Return the id of the text. 0: the text is empty, or there is no room (then `*full` is
   incremented). */
uint32_t label_find(Labels *labels, Arena *arena, const char *text, int n, int64_t *full);

#endif
