#include "interpreter/context.h"

#include <string.h>

#include "interpreter/peek.h"

/* Equal from 3.11 to 3.15. Objects begin with their reference count and type. */
enum { TYPE = 8, SIZE = 16, CONTEXT_VARS = 24, TREE_ROOT = 16, BITMAP = 24, PAIRS = 32, CHILDREN = 16, BYTES = 32 };
enum { BITS_A_LEVEL = 5, LEVELS = 7, NODE_HEAD = 32 };

static uintptr_t variable, bitmap_node, array_node, bytes_type;
static uint32_t path; /* the variable's hash as the HAMT uses it */
static int ts_context;
static bool learned;

/* Entry of a HAMT node at position `at`: a key and its value, or no key and a child node. */
typedef struct Pair {
  uintptr_t key, value;
} Pair;

static bool in_bitmap(uintptr_t node, const char *head, unsigned at, Pair *pair) {
  uint32_t bitmap = (uint32_t)int_at(head, BITMAP), bit = 1U << at;
  unsigned before = (unsigned)__builtin_popcount(bitmap & (bit - 1));
  return bitmap & bit && peek(pair, node + PAIRS + before * sizeof *pair, sizeof *pair);
}

static bool in_array(uintptr_t node, unsigned at, Pair *pair) {
  pair->key = 0;
  return peek(&pair->value, node + CHILDREN + at * sizeof(uintptr_t), sizeof(uintptr_t));
}

/* Return the variable's value in a HAMT; 0 if it has none, or the tree changed during the
   search. */
static uintptr_t find(uintptr_t node) {
  for (int level = 0; level < LEVELS && node; level++) {
    unsigned at = path >> (level * BITS_A_LEVEL) & 31;
    char head[NODE_HEAD];
    Pair pair;
    if (!peek(head, node, sizeof head))
      return 0;
    uintptr_t type = word_at(head, TYPE);
    if (!(type == bitmap_node ? in_bitmap(node, head, at, &pair) : type == array_node && in_array(node, at, &pair)))
      return 0;
    if (pair.key)
      return pair.key == variable ? pair.value : 0;
    node = pair.value;
  }
  return 0;
}

static uintptr_t root_of_tree(uintptr_t tree) {
  uintptr_t root;
  return tree && peek(&root, tree + TREE_ROOT, sizeof root) ? root : 0;
}

static uintptr_t root_of(uintptr_t context) {
  uintptr_t tree;
  return peek(&tree, context + CONTEXT_VARS, sizeof tree) ? root_of_tree(tree) : 0;
}

static uint32_t adler32(const unsigned char *data, size_t n) {
  uint32_t a = 1, b = 0;
  for (size_t i = 0; i < n; i++) {
    a = (a + data[i]) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

/* A checksum precedes the text, because the object may be freed while another thread's is read. */
static size_t copy_value(char *to, uintptr_t value) {
  char head[SIZE + 8];
  uint32_t sum;
  if (!peek(head, value, sizeof head) || word_at(head, TYPE) != bytes_type)
    return 0;
  size_t n = word_at(head, SIZE);
  if (n <= sizeof sum || n > LABEL_MAX || !peek(to, value + BYTES, n))
    return 0;
  memcpy(&sum, to, sizeof sum);
  return sum == adler32((unsigned char *)to + sizeof sum, n - sizeof sum) ? n : 0;
}

/* Return the HAMT of the thread's current context. The context pointer and its HAMT are read in
   one call and are consistent if the pointer equals the one in walk->state; otherwise the thread
   has switched contexts, and the new context is read. */
static uintptr_t tree_now(const Walk *walk) {
  uintptr_t expected = state_field(walk->state, ts_context), context, tree;
  struct iovec to[2] = {{&context, sizeof context}, {&tree, sizeof tree}};
  struct iovec from[2] = {{(void *)(walk->ts + (uintptr_t)ts_context), sizeof context},
                          {(void *)(expected + CONTEXT_VARS), sizeof tree}};
  if (expected && peek_many(to, from, 2, sizeof context + sizeof tree) && context == expected)
    return tree;
  if (!peek(&context, walk->ts + (uintptr_t)ts_context, sizeof context) || !context)
    return 0;
  return peek(&tree, context + CONTEXT_VARS, sizeof tree) ? tree : 0;
}

static int labels_now(char *to, const Walk *walk) {
  uintptr_t root = learned ? root_of_tree(tree_now(walk)) : 0, value = root ? find(root) : 0;
  return value ? (int)copy_value(to, value) : 0;
}

void context_read(Walk *walk) { walk->label_n = labels_now(walk->label, walk); }

/* Compare the labels and not their addresses: a new object often reuses the address of a freed
   one. */
bool context_stayed(const Walk *walk) {
  char now[LABEL_MAX];
  return labels_now(now, walk) == walk->label_n && !memcmp(now, walk->label, (size_t)walk->label_n);
}

static bool find_in_state(uintptr_t context) {
  char state[THREAD_STATE_MAX];
  const Offsets *o = &python.offsets;
  uintptr_t ts = (uintptr_t)PyThreadState_Get();
  int found = 0;
  if (!peek(state, ts + (uintptr_t)o->ts_next, (size_t)thread_state_bytes(o)))
    return false;
  for (int at = o->ts_next; at < o->ts_top; at += 8)
    if (state_field(state, at) == context) {
      ts_context = at;
      found++;
    }
  return found == 1;
}

/* The same folding of hashes as in CPython's hamt.c. */
static bool learn_path(PyObject *object) {
  Py_hash_t hash = PyObject_Hash(object);
  path = (uint32_t)(hash & 0xffffffff) ^ (uint32_t)((uint64_t)hash >> 32);
  path = path == UINT32_MAX ? UINT32_MAX - 1 : path;
  return hash != -1;
}

static bool learn_nodes(uintptr_t context, uintptr_t alone) {
  uintptr_t small = root_of(alone), large = root_of(context);
  return small && large && peek(&bitmap_node, small + TYPE, 8) && peek(&array_node, large + TYPE, 8) &&
         bitmap_node != array_node;
}

const char *context_learn(PyObject *object, PyObject *context, PyObject *alone, PyObject *value) {
  learned = false;
  variable = (uintptr_t)object;
  bytes_type = (uintptr_t)&PyBytes_Type;
  if (!find_in_state((uintptr_t)context))
    return "the running context is not where it was expected";
  bool read = learn_path(object) && learn_nodes((uintptr_t)context, (uintptr_t)alone) &&
              find(root_of((uintptr_t)context)) == (uintptr_t)value &&
              find(root_of((uintptr_t)alone)) == (uintptr_t)value;
  PyErr_Clear();
  if (!read)
    return "contexts have an unknown layout";
  Py_INCREF(object);
  learned = true;
  return NULL;
}
