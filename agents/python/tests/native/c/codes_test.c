/* Code objects that are freed while they are read, built by hand in their memory layout. */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "capture/codes.h"
#include "interpreter/peek.h"

enum { REFERENCES = 0, TYPE = 8, FIRST_LINE = 68, FILE_AT = 112, NAME_AT = 128, TABLE_AT = 136 };

static char object[256], name[64], file[64], table[64], type[8];
static Arena arena;
static Codes codes;

static void set_word(char *at, int offset, uintptr_t word) { memcpy(at + offset, &word, sizeof word); }

/* A compact ASCII string of 3.12: length at 16, state at 32, characters at 40. */
static void make_text(char *at, const char *text) {
  set_word(at, 16, strlen(text));
  set_word(at, 32, 1u << 2 | 1u << 5 | 1u << 6);
  memcpy(at + 40, text, strlen(text) + 1);
}

static CodePosition living(void) {
  CodePosition position = {.code = (uintptr_t)object};
  make_text(name, "work");
  make_text(file, "/srv/work.py");
  set_word(table, 16, 3);
  memcpy(table + 32, "abc", 3);
  set_word(object, REFERENCES, 2);
  set_word(object, TYPE, (uintptr_t)type);
  set_word(object, FIRST_LINE, 7);
  set_word(object, FILE_AT, (uintptr_t)file);
  set_word(object, NAME_AT, (uintptr_t)name);
  set_word(object, TABLE_AT, (uintptr_t)table);
  memcpy(position.head, object + HEAD_START, TABLE_AT + 8 - HEAD_START);
  return position;
}

static bool is_found(const CodePosition *position, const char *expected) {
  uint32_t id;
  arena_close(&arena);
  assert(arena_open(&arena, 1 << 20) && codes_open(&codes, &arena));
  assert(code_find(&codes, &arena, position, &id) == CODE_OK);
  return codes.first->name.n == strlen(expected) && !memcmp(codes.first->name.data, expected, strlen(expected));
}

static void test_a_living_code_has_its_name(void) {
  CodePosition position = living();
  assert(is_found(&position, "work"));
  assert(codes.first->line_table_bytes == 3 && codes.first->first_line == 7);
}

static void test_references_as_versions_count_them_are_alive(void) {
  const uintptr_t counts[] = {1, 3000000000u, 0xffffffffu, 0xc0000000u, 0x0001000000000002u, 0xe000000080000000u};
  for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
    CodePosition position = living();
    set_word(object, REFERENCES, counts[i]);
    assert(is_found(&position, "work"));
  }
}

static void test_a_code_without_references_is_freed_though_the_rest_lies_there(void) {
  CodePosition position = living();
  set_word(object, REFERENCES, 0);
  assert(is_found(&position, "[freed code]"));
}

static void test_a_link_of_a_free_list_is_no_count(void) {
  CodePosition position = living();
  set_word(object, REFERENCES, 0x00007f12a4c05680);
  assert(is_found(&position, "[freed code]"));
  set_word(object, REFERENCES, 0x0000558000000010);
  assert(is_found(&position, "[freed code]"));
}

static void test_another_object_at_its_address_is_a_freed_code(void) {
  CodePosition position = living();
  set_word(object, NAME_AT, (uintptr_t)file);
  assert(is_found(&position, "[freed code]"));
}

static void test_memory_that_is_gone_is_no_crash(void) {
  CodePosition position = living();
  char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  position.code = (uintptr_t)page;
  munmap(page, 4096);
  assert(is_found(&position, "[freed code]"));
  position = living();
  set_word(object, NAME_AT, (uintptr_t)page);
  memcpy(position.head, object + HEAD_START, TABLE_AT + 8 - HEAD_START);
  assert(is_found(&position, "[freed code]"));
}

int main(void) {
  peek_set_pid();
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
  test_a_living_code_has_its_name();
  test_references_as_versions_count_them_are_alive();
  test_a_code_without_references_is_freed_though_the_rest_lies_there();
  test_a_link_of_a_free_list_is_no_count();
  test_another_object_at_its_address_is_a_freed_code();
  test_memory_that_is_gone_is_no_crash();
  puts("right");
  return 0;
}
