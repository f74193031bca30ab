/* 3.11 and 3.12 do not publish offsets, so there is a table, made by offsetof() on their
   internal headers. 3.13 and later publish them (_Py_DebugOffsets) at the start of _PyRuntime,
   as an array of 64-bit numbers whose order differs by version. The result is checked against
   the caller's own stack before use (verify.c). */
#include "interpreter/offsets.h"

#include <string.h>

Interpreter python;

#define UNTAGGED (~(uintptr_t)0)
#define TAGGED (~(uintptr_t)7)
#define COMMON                                                                                                  \
  .ts_next = 8, .ts_interp = 16, .text_length = 16, .text_state = 32, .text_kind_shift = 2, .bytes_length = 16, \
  .bytes_data = 32

static const Offsets V311 = {
    .version = 0x030b,
    COMMON,
    .interp_threads = 16,
    .runtime_gil = 360,
    .ts_frame = -1,
    .ts_cframe = 56,
    .cframe_frame = 8,
    .ts_native_id = 160,
    .ts_chunk = 296,
    .ts_top = 304,
    .frame_previous = 48,
    .frame_code = 32,
    .frame_instr = 56,
    .frame_owner = 69,
    .frame_size = 72,
    .frame_code_mask = UNTAGGED,
    .shim_owner = 0,
    .code_file = 112,
    .code_name = 128,
    .code_line_table = 136,
    .code_first_line = 72,
    .code_bytes = 184,
    .text_ascii = 48,
    .text_wide = 72,
};

static const Offsets V312 = {
    .version = 0x030c,
    COMMON,
    .interp_threads = 72,
    .interp_gil = 384,
    .ts_frame = -1,
    .ts_cframe = 56,
    .cframe_frame = 0,
    .ts_native_id = 144,
    .ts_chunk = 232,
    .ts_top = 240,
    .frame_previous = 8,
    .frame_code = 0,
    .frame_instr = 56,
    .frame_owner = 70,
    .frame_size = 72,
    .frame_code_mask = UNTAGGED,
    .shim_owner = 3,
    .code_file = 112,
    .code_name = 128,
    .code_line_table = 136,
    .code_first_line = 68,
    .code_bytes = 192,
    .text_ascii = 40,
    .text_wide = 56,
};

/* Indexes into the published numbers. `frame` and `code` are the starts of those groups. */
typedef struct Published {
  int version, gil, next, interp, current_frame, native_id, frame, code;
  uintptr_t mask;
} Published;

enum { COOKIE, VERSION, FREE_THREADED, INTERP_THREADS = 9 };
enum { FRAME_PREVIOUS = 1, FRAME_CODE, FRAME_INSTR, FRAME_LOCALS, FRAME_OWNER };
enum { CODE_FILE = 1, CODE_NAME = 3, CODE_LINE_TABLE = 4, CODE_FIRST_LINE = 5, CODE_BYTES = 9 };

static const Published PUBLISHED[] = {
    {0x030d, .gil = 14, .next = 21, .interp = 22, .current_frame = 23, .native_id = 25, .frame = 28, .code = 34,
     .mask = UNTAGGED},
    {0x030e, .gil = 15, .next = 24, .interp = 25, .current_frame = 26, .native_id = 28, .frame = 31, .code = 39,
     .mask = TAGGED},
    {0x030f, .gil = 15, .next = 24, .interp = 25, .current_frame = 26, .native_id = 31, .frame = 39, .code = 47,
     .mask = TAGGED},
};

static Offsets from_published(const Published *at, const uint64_t *q) {
  const uint64_t *frame = q + at->frame, *code = q + at->code;
  int chunk = (int)q[at->native_id + 1];
  return (Offsets){
      COMMON,
      .version = at->version,
      .interp_threads = (int)q[INTERP_THREADS],
      .interp_gil = (int)q[at->gil],
      .ts_frame = (int)q[at->current_frame],
      .ts_cframe = -1,
      .ts_native_id = (int)q[at->native_id],
      .ts_chunk = chunk,
      .ts_top = chunk + 8, /* not published; it has always followed */
      .frame_previous = (int)frame[FRAME_PREVIOUS],
      .frame_code = (int)frame[FRAME_CODE],
      .frame_instr = (int)frame[FRAME_INSTR],
      .frame_owner = (int)frame[FRAME_OWNER],
      .frame_size = (int)frame[FRAME_LOCALS],
      .frame_code_mask = at->mask,
      .shim_owner = 3,
      .code_file = (int)code[CODE_FILE],
      .code_name = (int)code[CODE_NAME],
      .code_line_table = (int)code[CODE_LINE_TABLE],
      .code_first_line = (int)code[CODE_FIRST_LINE],
      .code_bytes = (int)code[CODE_BYTES],
      .text_ascii = 40,
      .text_wide = 56,
  };
}

static const char *read_published(Offsets *offsets, const Published *at, const char *runtime) {
  const uint64_t *q = (const uint64_t *)runtime;
  if (memcmp(runtime, "xdebugpy", 8))
    return "this interpreter does not say where its data is (no debug offsets)";
  if (q[FREE_THREADED])
    return "free-threaded builds of Python are not supported";
  if ((int)(q[VERSION] >> 16) != at->version)
    return "the interpreter's debug offsets belong to another version";
  if (q[at->next] != 8 || q[at->interp] != 16)
    return "the interpreter's thread states have an unknown layout";
  *offsets = from_published(at, q);
  return NULL;
}

const char *find_offsets(Offsets *offsets, int version, const char *runtime) {
  if (version == V311.version || version == V312.version) {
    *offsets = version == V311.version ? V311 : V312;
    return NULL;
  }
  for (unsigned i = 0; i < sizeof PUBLISHED / sizeof *PUBLISHED; i++)
    if (PUBLISHED[i].version == version)
      return read_published(offsets, &PUBLISHED[i], runtime);
  return "this version of Python is not known to the agent";
}
