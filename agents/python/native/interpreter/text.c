#include "interpreter/text.h"

#include <string.h>

#include "interpreter/peek.h"
#include "interpreter/positions.h"

#define UTF8_MAX 64 /* characters per conversion */

typedef struct Head {
  size_t n;
  unsigned kind;
  bool compact, ascii;
} Head;

static bool read_head(Head *head, uintptr_t address, int kind_shift) {
  char copy[48];
  if (!peek(copy, address, sizeof copy))
    return false;
  unsigned state = (unsigned)int_at(copy, python.offsets.text_state) >> kind_shift;
  *head = (Head){word_at(copy, python.offsets.text_length), state & 7, state >> 3 & 1, state >> 4 & 1};
  return true;
}

static bool is_readable(const Head *head) {
  bool valid_kind = head->kind == 1 || head->kind == 2 || head->kind == 4;
  return head->compact && valid_kind && head->n <= (1u << 30);
}

Copied copy_text(Text *text, Arena *arena, uintptr_t address) {
  Head head;
  if (!read_head(&head, address, python.offsets.text_kind_shift))
    return COPY_FAILED;
  if (!is_readable(&head))
    return COPY_FAILED;
  size_t n = head.n < TEXT_MAX ? head.n : TEXT_MAX;
  char *data = arena_take(arena, n * head.kind + 1);
  if (!data)
    return COPY_FULL;
  int start = head.ascii ? python.offsets.text_ascii : python.offsets.text_wide;
  if (n && !peek(data, address + (uintptr_t)start, n * head.kind))
    return COPY_FAILED;
  *text = (Text){(int)head.kind, n, data};
  return COPIED;
}

Copied copy_bytes(const char **data, size_t *n, Arena *arena, uintptr_t address) {
  size_t length;
  if (!peek(&length, address + (uintptr_t)python.offsets.bytes_length, sizeof length))
    return COPY_FAILED;
  *n = length <= BYTES_MAX ? length : 0;
  char *copy = arena_take(arena, *n + 1);
  if (!copy)
    return COPY_FULL;
  if (*n && !peek(copy, address + (uintptr_t)python.offsets.bytes_data, *n))
    return COPY_FAILED;
  *data = copy;
  return COPIED;
}

static int put_utf8(char *to, uint32_t c) {
  if (c < 0x80) {
    to[0] = (char)(c ? c : ' ');
    return 1;
  }
  int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  to[0] = (char)(0xff00 >> (more + 1) | c >> 6 * more);
  for (int i = 1; i <= more; i++)
    to[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3f));
  return more + 1;
}

static uint32_t character_at(const char *data, unsigned kind, int i) {
  uint32_t c = 0;
  memcpy(&c, data + (unsigned)i * kind, kind); /* little-endian on both architectures */
  return c;
}

int text_utf8(char *to, int characters, uintptr_t address) {
  Head head;
  char data[4 * UTF8_MAX];
  if (!read_head(&head, address, python.offsets.text_kind_shift) || !is_readable(&head))
    return -1;
  int n = head.n < (size_t)characters ? (int)head.n : characters, size = 0;
  int start = head.ascii ? python.offsets.text_ascii : python.offsets.text_wide;
  if (n && !peek(data, address + (uintptr_t)start, (size_t)n * head.kind))
    return -1;
  for (int i = 0; i < n; i++)
    size += put_utf8(to + size, character_at(data, head.kind, i) & 0x1fffff);
  return size;
}

static bool fits(int kind_shift, const uintptr_t samples[4]) {
  static const unsigned kinds[4] = {1, 1, 2, 4};
  for (int i = 0; i < 4; i++) {
    Head head;
    if (!read_head(&head, samples[i], kind_shift))
      return false;
    if (head.n != 1 || head.kind != kinds[i] || !head.compact || head.ascii != (i == 0))
      return false;
  }
  return true;
}

bool calibrate_text(const uintptr_t samples[4]) {
  static const int shifts[] = {2, 8, 16};
  for (unsigned i = 0; i < sizeof shifts / sizeof *shifts; i++)
    if (fits(shifts[i], samples)) {
      python.offsets.text_kind_shift = shifts[i];
      return true;
    }
  return false;
}
