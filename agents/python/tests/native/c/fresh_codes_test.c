/* Code objects that the signal handler reads, built by hand in their memory layout (3.12). */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpreter/peek.h"
#include "sampling/fresh_codes.h"

enum { REFERENCES = 0, TYPE = 8, FIRST_LINE = 68, FILE_AT = 112, NAME_AT = 128, TABLE_AT = 136 };
enum { OBJECTS = 100, MANY = 64 /* as many as one sample may read */ };

static char objects[OBJECTS][256], name[64], file[64], table[256 << 10], type[8];
static Arena arena;
static Codes codes;
static FreshCodes fresh;
static Walk *walk;

static void set_word(char *at, int offset, uintptr_t word) { memcpy(at + offset, &word, sizeof word); }

static void make_text(char *at, const char *text) {
  set_word(at, 16, strlen(text));
  set_word(at, 32, 1u << 2 | 1u << 5 | 1u << 6);
  memcpy(at + 40, text, strlen(text) + 1);
}

static void make_object(char *object, size_t table_bytes) {
  memset(object, 0, 256);
  set_word(table, 16, table_bytes);
  set_word(object, REFERENCES, 1);
  set_word(object, TYPE, (uintptr_t)type);
  set_word(object, FILE_AT, (uintptr_t)file);
  set_word(object, NAME_AT, (uintptr_t)name);
  set_word(object, TABLE_AT, (uintptr_t)table);
}

/* Make a stack of the first n objects. */
static void stand_on(int n) {
  walk->depth = n;
  for (int i = 0; i < n; i++) {
    walk->positions[i].code = (uintptr_t)objects[i];
    memcpy(walk->positions[i].head, objects[i] + HEAD_START, TABLE_AT + 8 - HEAD_START);
  }
}

static void begin(size_t max_bytes) {
  arena_close(&arena);
  arena_close(&fresh.arena);
  fresh = (FreshCodes){0};
  assert(arena_open(&arena, max_bytes) && codes_open(&codes, &arena) && arena_open(&fresh.arena, FRESH_BYTES));
  fresh_codes_open();
  for (int i = 0; i < OBJECTS; i++)
    make_object(objects[i], 3);
}

static void test_a_code_freed_after_the_handler_keeps_its_name(void) {
  uint32_t id;
  begin(1 << 20);
  stand_on(1);
  fresh_codes_read(&fresh, walk);
  set_word(objects[0], REFERENCES, 0);
  fresh_codes_move(&fresh, &codes, &arena);
  assert(code_find(&codes, &arena, &walk->positions[0], &id) == CODE_OK && id == 0);
  assert(codes.n == 1 && !memcmp(codes.first->name.data, "body", 4) && codes.first->line_table_bytes == 3);
}

static void test_a_seen_code_is_not_read_again(void) {
  begin(1 << 20);
  stand_on(2);
  fresh_codes_read(&fresh, walk);
  assert(fresh.n == 2);
  fresh_codes_move(&fresh, &codes, &arena);
  fresh_codes_read(&fresh, walk);
  assert(fresh.n == 0 && fresh.arena.used == 0 && codes.n == 2);
}

static void test_a_code_that_recurs_is_read_once(void) {
  begin(1 << 20);
  stand_on(1);
  walk->positions[1] = walk->positions[0];
  walk->depth = 2;
  fresh_codes_read(&fresh, walk);
  assert(fresh.n == 1);
}

static void test_two_samples_of_one_code_are_one_entry(void) {
  FreshCodes other = {0};
  begin(1 << 20);
  assert(arena_open(&other.arena, FRESH_BYTES));
  stand_on(1);
  fresh_codes_read(&fresh, walk);
  fresh_codes_read(&other, walk);
  fresh_codes_move(&fresh, &codes, &arena);
  fresh_codes_move(&other, &codes, &arena);
  assert(codes.n == 1);
  arena_close(&other.arena);
}

static void test_a_sample_reads_a_bounded_number_the_leaf_first(void) {
  uint32_t id;
  begin(1 << 20);
  stand_on(OBJECTS);
  fresh_codes_read(&fresh, walk);
  assert(fresh.n == MANY && fresh.first->address == (uintptr_t)objects[0]);
  fresh_codes_move(&fresh, &codes, &arena);
  assert(code_find(&codes, &arena, &walk->positions[MANY - 1], &id) == CODE_OK && codes.n == MANY);
}

static void test_a_table_without_room_leaves_the_rest_as_it_was(void) {
  begin(1 << 20);
  set_word(table, 16, FRESH_BYTES);
  stand_on(1);
  fresh_codes_read(&fresh, walk);
  assert(fresh.n == 0 && fresh.arena.used == 0);
}

static void test_a_full_capture_does_not_make_the_handler_read_in_vain(void) {
  begin(CODE_BUCKETS * sizeof(void *) + 64);
  stand_on(1);
  fresh_codes_read(&fresh, walk);
  fresh_codes_move(&fresh, &codes, &arena);
  fresh_codes_read(&fresh, walk);
  assert(codes.n == 0 && fresh.n == 0);
}

int main(void) {
  peek_set_pid();
  walk = calloc(1, walk_bytes(OBJECTS));
  make_text(name, "body");
  make_text(file, "/srv/body.py");
  python.code_type = (uintptr_t)type;
  python.offsets = (Offsets){.code_file = FILE_AT,
                             .code_name = NAME_AT,
                             .code_line_table = TABLE_AT,
                             .code_first_line = FIRST_LINE,
                             .text_length = 16,
                             .text_state = 32,
                             .text_kind_shift = 2,
                             .text_ascii = 40,
                             .text_wide = 56,
                             .bytes_length = 16,
                             .bytes_data = 32};
  test_a_code_freed_after_the_handler_keeps_its_name();
  test_a_seen_code_is_not_read_again();
  test_a_code_that_recurs_is_read_once();
  test_two_samples_of_one_code_are_one_entry();
  test_a_sample_reads_a_bounded_number_the_leaf_first();
  test_a_table_without_room_leaves_the_rest_as_it_was();
  test_a_full_capture_does_not_make_the_handler_read_in_vain();
  free(walk);
  puts("right");
  return 0;
}
