/* Offsets of fields inside CPython's structures, by version. */
#ifndef FLAMEWATCH_OFFSETS_H
#define FLAMEWATCH_OFFSETS_H

#include <stdint.h>

typedef struct Offsets {
  int version; /* 0x030b is 3.11 */
  int interp_threads;
  int interp_gil, runtime_gil; /* pointer to the GIL; the GIL itself in 3.11, else 0 */
  /* thread state; frame < 0: the current frame is found through the cframe (3.11, 3.12) */
  int ts_next, ts_interp, ts_frame, ts_cframe, cframe_frame, ts_native_id, ts_chunk, ts_top;
  /* interpreter frame; `size` is the offset of its locals */
  int frame_previous, frame_code, frame_instr, frame_owner, frame_size;
  uintptr_t frame_code_mask; /* 3.14 and later tag references in the low bits */
  int shim_owner;            /* owners from this value on are the interpreter's shims; 0: none */
  int code_file, code_name, code_line_table, code_first_line, code_bytes;
  int text_length, text_state, text_kind_shift, text_ascii, text_wide;
  int bytes_length, bytes_data;
} Offsets;

/* Owners of frames that run Python code; the same in all versions. */
enum { OWNED_BY_THREAD = 0, OWNED_BY_GENERATOR = 1 };

/* Fill `offsets` for this interpreter. Return NULL, or the reason why that is not possible. */
const char *find_offsets(Offsets *offsets, int version, const char *runtime);

/* Number of bytes of a thread state that are copied, beginning at ts_next. */
static inline int thread_state_bytes(const Offsets *o) { return o->ts_top + 8 - o->ts_next; }

/* Properties of the interpreter that walks need; set once before the first. */
typedef struct Interpreter {
  Offsets offsets;
  uintptr_t code_type, runtime, self; /* PyCode_Type; _PyRuntime; the interpreter state that is sampled */
} Interpreter;

extern Interpreter python;

#endif
