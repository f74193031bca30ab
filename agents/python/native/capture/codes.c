#include "capture/codes.h"

#include <string.h>

#include "interpreter/peek.h"

#define FLAGS_END 52 /* end of sizes, constants, names, exception table and flags in all versions */

bool codes_open(Codes *codes, Arena *arena) {
  *codes = (Codes){.buckets = arena_take(arena, CODE_BUCKETS * sizeof(Code *))};
  return codes->buckets != NULL;
}

/* Compare two heads without the counters that code objects contain. */
static bool same_head(const char *a, const char *b) {
  const Offsets *o = &python.offsets;
  int line = o->code_first_line - HEAD_START, names = o->code_file - HEAD_START;
  return !memcmp(a, b, FLAGS_END - HEAD_START) && !memcmp(a + line, b + line, 4) &&
         !memcmp(a + names, b + names, (size_t)(o->code_line_table + 8 - o->code_file));
}

uint64_t code_fingerprint(uintptr_t address, const char *head) { /* FNV-1a over words */
  const Offsets *o = &python.offsets;
  uint64_t h = 14695981039346656037ULL ^ address;
  for (int at = 0; at + 8 <= FLAGS_END - HEAD_START; at += 8)
    h = (h ^ word_at(head, at)) * 1099511628211ULL;
  h = (h ^ (uint32_t)int_at(head, o->code_first_line - HEAD_START)) * 1099511628211ULL;
  for (int at = o->code_file; at <= o->code_line_table; at += 8)
    h = (h ^ word_at(head, at - HEAD_START)) * 1099511628211ULL;
  h ^= h >> 29;
  return h ? h : 1;
}

static uintptr_t head_word(const char *head, int offset) { return word_at(head, offset - HEAD_START); }

static CodeFound found(const Code *code, uint32_t *id) {
  *id = code->id;
  return code->hidden ? CODE_HIDDEN : CODE_OK;
}

static bool is_text(const Text *text, const char *expected) {
  size_t n = strlen(expected);
  return text->width == 1 && text->n == n && !memcmp(text->data, expected, n);
}

/* The caller of __init__, and the frame by which C code enters the interpreter (3.12 and later).
   The owner field identifies the latter too, but a thread that is creating the frame may not
   have set it yet. */
static bool is_stub(const Code *code) {
  return (code->first_line == 0 && is_text(&code->name, "__init__") && is_text(&code->file, "__init__")) ||
         is_text(&code->name, "<interpreter trampoline>");
}

static Copied read_code(Code *code, Arena *arena) {
  const Offsets *o = &python.offsets;
  Copied copied = copy_text(&code->name, arena, head_word(code->head, o->code_name));
  if (copied == COPIED)
    copied = copy_text(&code->file, arena, head_word(code->head, o->code_file));
  if (copied == COPIED)
    copied = copy_bytes(&code->line_table, &code->line_table_bytes, arena, head_word(code->head, o->code_line_table));
  code->first_line = int_at(code->head, o->code_first_line - HEAD_START);
  code->hidden = copied == COPIED && is_stub(code);
  return copied;
}

/* An object whose reference count is zero has been freed, even if the rest of it is unchanged;
   in memory returned to the allocator a free-list pointer replaces the count. 3.14 stores flags
   in the upper 16 bits; the 16 bits below them are used only above 2^32 references. */
static bool is_alive(uintptr_t references) { return (uint32_t)references && !(references >> 32 & 0xffff); }

/* A code object seen in a frame may have been freed since, and its address reused. */
static bool still_there(const Code *code) {
  char copy[HEAD_START + HEAD_MAX];
  size_t size = (size_t)(python.offsets.code_line_table + 8);
  return peek(copy, code->address, size) && is_alive(word_at(copy, 0)) && same_head(copy + HEAD_START, code->head);
}

/* A code object owns references to its names: if it was alive before and after they were read,
   they were valid. */
static Copied read_living(Code *code, Arena *arena) {
  Copied copied = still_there(code) ? read_code(code, arena) : COPY_FAILED;
  return copied == COPIED && !still_there(code) ? COPY_FAILED : copied;
}

static void keep(Codes *codes, Code *code) {
  if (code->hidden)
    return;
  code->id = codes->n++;
  if (codes->last)
    codes->last->newer = code;
  else
    codes->first = code;
  codes->last = code;
}

static CodeFound freed_code(Codes *codes, Arena *arena, uint32_t *id) {
  static const char name[] = "[freed code]";
  if (!codes->freed) {
    Code *code = arena_take(arena, sizeof *code);
    if (!code)
      return CODE_FULL;
    code->name = (Text){1, sizeof name - 1, name};
    code->file = (Text){1, 0, name};
    code->line_table = name;
    keep(codes, codes->freed = code);
  }
  return found(codes->freed, id);
}

static Code **bucket_of(Codes *codes, uintptr_t address) {
  return &codes->buckets[(address >> 4) * 2654435761u >> 7 & (CODE_BUCKETS - 1)];
}

static void put_in_bucket(Codes *codes, Code *code) {
  Code **bucket = bucket_of(codes, code->address);
  code->next = *bucket;
  *bucket = code;
}

static const Code *stored_code(Codes *codes, uintptr_t address, const char *head) {
  for (const Code *code = *bucket_of(codes, address); code; code = code->next)
    if (code->address == address && same_head(code->head, head))
      return code;
  return NULL;
}

/* Read a code object into `arena`. If that fails, the arena is unchanged. */
static Copied read_position(Code **read, Arena *arena, const CodePosition *position) {
  Code *code = arena_take(arena, sizeof *code);
  if (!code)
    return COPY_FULL;
  code->address = position->code;
  memcpy(code->head, position->head, HEAD_MAX);
  Copied copied = read_living(code, arena);
  if (copied != COPIED)
    arena_trim(arena, code, 0);
  *read = code;
  return copied;
}

CodeFound code_find(Codes *codes, Arena *arena, const CodePosition *position, uint32_t *id) {
  const Code *entry = stored_code(codes, position->code, position->head);
  if (entry)
    return found(entry, id);
  Code *code;
  Copied copied = read_position(&code, arena, position);
  if (copied != COPIED)
    return copied == COPY_FULL ? CODE_FULL : freed_code(codes, arena, id);
  put_in_bucket(codes, code);
  keep(codes, code);
  return found(code, id);
}

static bool copy_data(const char **data, size_t n, Arena *arena) {
  char *copy = arena_take(arena, n + 1);
  if (copy)
    memcpy(copy, *data, n);
  *data = copy;
  return copy != NULL;
}

const Code *code_copy(Codes *to, Arena *arena, const Code *code) {
  Code *copy = arena_take(arena, sizeof *copy);
  if (!copy)
    return NULL;
  *copy = *code;
  copy->next = copy->newer = NULL;
  if (!copy_data(&copy->name.data, copy->name.n * (size_t)copy->name.width, arena) ||
      !copy_data(&copy->file.data, copy->file.n * (size_t)copy->file.width, arena) ||
      !copy_data(&copy->line_table, copy->line_table_bytes, arena))
    return NULL;
  if (copy->address)
    put_in_bucket(to, copy);
  else
    to->freed = copy;
  keep(to, copy);
  return copy;
}

Code *code_read(Arena *arena, const CodePosition *position) {
  Code *code;
  return read_position(&code, arena, position) == COPIED ? code : NULL;
}

bool code_learn(Codes *codes, Arena *arena, const Code *code) {
  return stored_code(codes, code->address, code->head) || code_copy(codes, arena, code);
}
