#include "capture/labels.h"

#include <string.h>

static Label *added(Labels *labels, Arena *arena, const char *text, int n) {
  Label *label = labels->n < LABELS_MAX ? arena_take(arena, sizeof *label + (size_t)n) : NULL;
  if (!label)
    return NULL;
  *label = (Label){.id = ++labels->n, .n = n};
  memcpy(label->text, text, (size_t)n);
  if (labels->last)
    labels->last->newer = label;
  else
    labels->first = label;
  return labels->last = label;
}

uint32_t label_find(Labels *labels, Arena *arena, const char *text, int n, int64_t *full) {
  if (!n)
    return 0;
  for (const Label *label = labels->first; label; label = label->newer)
    if (label->n == n && !memcmp(label->text, text, (size_t)n))
      return label->id;
  const Label *label = added(labels, arena, text, n);
  if (!label)
    ++*full;
  return label ? label->id : 0;
}
