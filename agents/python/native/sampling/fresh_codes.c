#include "sampling/fresh_codes.h"

#include <stdatomic.h>

#define FRESH_MAX 64      /* codes per sample: 0.3 ms in the handler for the first deep stack */
#define FINGERPRINTS 8192 /* more codes than most captures meet; colliding codes are read again */

/* One word per entry, so that the handler reads it atomically while the sampler thread writes. */
static _Atomic uint64_t fingerprints[FINGERPRINTS];

void fresh_codes_open(void) {
  for (int i = 0; i < FINGERPRINTS; i++)
    atomic_store_explicit(&fingerprints[i], 0, memory_order_relaxed);
}

static _Atomic uint64_t *entry_for(uint64_t fingerprint) { return &fingerprints[fingerprint % FINGERPRINTS]; }

static bool is_seen(uintptr_t address, const char *head) {
  uint64_t fingerprint = code_fingerprint(address, head);
  return atomic_load_explicit(entry_for(fingerprint), memory_order_relaxed) == fingerprint;
}

/* Addresses are unique within one stack. */
static bool is_read(const FreshCodes *fresh, uintptr_t address) {
  for (const Code *code = fresh->first; code; code = code->newer)
    if (code->address == address)
      return true;
  return false;
}

static void add(FreshCodes *fresh, Code *code) {
  if (fresh->last)
    fresh->last->newer = code;
  else
    fresh->first = code;
  fresh->last = code;
  fresh->n++;
}

void fresh_codes_read(FreshCodes *fresh, const Walk *walk) {
  for (int i = 0; i < walk->depth && fresh->n < FRESH_MAX; i++) {
    const CodePosition *position = &walk->positions[i];
    if (is_seen(position->code, position->head) || is_read(fresh, position->code))
      continue;
    Code *code = code_read(&fresh->arena, position);
    if (code)
      add(fresh, code);
  }
}

/* Codes are marked as seen even if the table is full; otherwise each sample would read them in
   vain. */
void fresh_codes_move(FreshCodes *fresh, Codes *codes, Arena *arena) {
  for (const Code *code = fresh->first; code; code = code->newer) {
    uint64_t fingerprint = code_fingerprint(code->address, code->head);
    code_learn(codes, arena, code);
    atomic_store_explicit(entry_for(fingerprint), fingerprint, memory_order_relaxed);
  }
  arena_trim(&fresh->arena, fresh->arena.base, 0);
  *fresh = (FreshCodes){.arena = fresh->arena};
}
