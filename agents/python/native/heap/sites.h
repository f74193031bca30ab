/* Allocation sites: distinct stacks, with the memory that they allocated and the part still in
   use. */
#ifndef FLAMEWATCH_SITES_H
#define FLAMEWATCH_SITES_H

#include "base/arena.h"
#include "capture/codes.h"
#include "capture/stacks.h"

#define SITES_MAX 16384

/* Estimates: each sampled block counts for the number of blocks that it represents. */
typedef struct Totals {
  double allocated_objects, allocated_bytes, used_objects, used_bytes;
  uint32_t samples, used_samples;
} Totals;

typedef struct Site {
  Totals ever;     /* since counting began */
  Totals interval; /* since the last interval began, only for blocks allocated since then */
} Site;

typedef struct Sites {
  Arena arena, values;
  Codes codes;
  Stacks stacks;
  Site *at; /* by Stack.index */
} Sites;

typedef bool SiteFilter(const Site *site);

bool sites_open(Sites *sites, size_t max_bytes);
void sites_close(Sites *sites);

/* Find or add the site of this stack. Return its index, or -1 if there is no room. */
int64_t site_find(Sites *sites, const Walk *walk);

/* Copy the wanted sites to empty tables of the same size. `moved`, if given, holds SITES_MAX
   numbers and receives the new index of each copied site. Return false if there is no memory. */
bool sites_copy(Sites *to, const Sites *from, SiteFilter *includes, uint32_t *moved);

static inline void totals_used(Totals *totals, double weight, size_t size) {
  totals->used_objects += weight;
  totals->used_bytes += weight * (double)size;
  totals->used_samples++;
}

static inline void totals_add(Totals *totals, double weight, size_t size) {
  totals->allocated_objects += weight;
  totals->allocated_bytes += weight * (double)size;
  totals->samples++;
  totals_used(totals, weight, size);
}

static inline void totals_freed(Totals *totals, double weight, size_t size) {
  bool last = --totals->used_samples == 0; /* then no rounding error may be left */
  totals->used_objects = last ? 0 : totals->used_objects - weight;
  totals->used_bytes = last ? 0 : totals->used_bytes - weight * (double)size;
}

#endif
