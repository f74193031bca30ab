#include "heap_hooks.h"

#include "allocators.h"
#include "heap.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define SLOWLY __attribute__((noinline))

/* What a hook is laid over: its context. */
typedef struct Under {
  Allocator allocator;
  bool gil; /* who asks this domain holds it */
  bool in;  /* our hook is in the chain, at its end or somewhere in it */
} Under;

static Under under[DOMAINS] = {
  [DOMAIN_RAW] = {.gil = false}, [DOMAIN_MEM] = {.gil = true}, [DOMAIN_OBJECT] = {.gil = true}};

static inline bool goes_on(size_t n) { return LIKELY((countdown.left -= (int64_t)n) >= 0); }

static void *chosen(const Under *u, void *block, size_t n) {
  if (block)
    heap_sample(block, n, u->gil);
  else
    countdown.left += (int64_t)n; /* nothing was allocated */
  return block;
}

SLOWLY static void *malloc_chosen(const Under *u, size_t n) {
  return chosen(u, u->allocator.malloc(u->allocator.context, n), n);
}

SLOWLY static void *calloc_chosen(const Under *u, size_t n, size_t size) {
  return chosen(u, u->allocator.calloc(u->allocator.context, n, size), n * size);
}

/* A reallocation is a block freed and another allocated, wherever it lies. */
SLOWLY static void *realloc_known(const Under *u, void *old, size_t n) {
  Taken taken;
  bool known = old && heap_take(old, &taken);
  void *block = u->allocator.realloc(u->allocator.context, old, n);
  if (known && !block)
    heap_put_back(&taken);
  if (countdown.left < 0)
    chosen(u, block, n);
  return block;
}

SLOWLY static void free_known(const Under *u, void *block) {
  Taken taken;
  heap_take(block, &taken);
  u->allocator.free(u->allocator.context, block);
}

static void *hook_malloc(void *context, size_t n) {
  const Under *u = context;
  return goes_on(n) ? u->allocator.malloc(u->allocator.context, n) : malloc_chosen(u, n);
}

static void *hook_calloc(void *context, size_t n, size_t size) {
  const Under *u = context; /* the product was checked by Python */
  return goes_on(n * size) ? u->allocator.calloc(u->allocator.context, n, size) : calloc_chosen(u, n, size);
}

static void *hook_realloc(void *context, void *old, size_t n) {
  const Under *u = context;
  bool unknown = !may_be_sampled(old);
  return goes_on(n) && LIKELY(unknown) ? u->allocator.realloc(u->allocator.context, old, n) : realloc_known(u, old, n);
}

static void hook_free(void *context, void *block) {
  const Under *u = context;
  if (LIKELY(!may_be_sampled(block)))
    u->allocator.free(u->allocator.context, block);
  else
    free_known(u, block);
}

/* The same, where the raw domain is counted too: requests over 512 bytes are passed on to it by the
   object domain, and must not be counted twice. */
static void *whole_malloc(void *context, size_t n) {
  const Under *u = context;
  if (countdown.inside)
    return u->allocator.malloc(u->allocator.context, n);
  countdown.inside = true;
  void *block = hook_malloc(context, n);
  countdown.inside = false;
  return block;
}

static void *whole_calloc(void *context, size_t n, size_t size) {
  const Under *u = context;
  if (countdown.inside)
    return u->allocator.calloc(u->allocator.context, n, size);
  countdown.inside = true;
  void *block = hook_calloc(context, n, size);
  countdown.inside = false;
  return block;
}

static void *whole_realloc(void *context, void *old, size_t n) {
  const Under *u = context;
  if (countdown.inside)
    return u->allocator.realloc(u->allocator.context, old, n);
  countdown.inside = true;
  void *block = hook_realloc(context, old, n);
  countdown.inside = false;
  return block;
}

static bool is_hook(const Allocator *allocator) {
  return allocator->malloc == hook_malloc || allocator->malloc == whole_malloc;
}

static void put_in(Domain domain, bool whole) {
  Allocator current, ours = {&under[domain], hook_malloc, hook_calloc, hook_realloc, hook_free};
  get_allocator(domain, &current);
  if (is_hook(&current))
    return;
  if (whole)
    ours = (Allocator){&under[domain], whole_malloc, whole_calloc, whole_realloc, hook_free};
  under[domain].allocator = current;
  under[domain].in = true;
  set_allocator(domain, &ours);
}

void hooks_put_in(bool raw) {
  for (int domain = raw ? DOMAIN_RAW : DOMAIN_MEM; domain < DOMAINS; domain++)
    if (!under[domain].in)
      put_in((Domain)domain, raw);
}

void hooks_take_out(void) {
  for (int domain = 0; domain < DOMAINS; domain++) {
    Allocator current;
    get_allocator((Domain)domain, &current);
    if (!under[domain].in || !is_hook(&current))
      continue;
    set_allocator((Domain)domain, &under[domain].allocator);
    under[domain].in = false;
  }
}

static bool is_reached(Domain domain) {
  int64_t left = countdown.left;
  countdown.left = 1 << 20;
  try_allocator(domain);
  bool reached = countdown.left < 1 << 20;
  countdown.left = left;
  return reached;
}

bool hooks_are_reached(void) {
  bool all = true;
  for (int domain = 0; domain < DOMAINS; domain++)
    if (under[domain].in && !is_reached((Domain)domain)) {
      under[domain].in = false;
      all = false;
    }
  return all;
}
