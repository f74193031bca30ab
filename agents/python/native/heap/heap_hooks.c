#include "heap/heap_hooks.h"

#include "heap/allocators.h"
#include "heap/heap.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define SLOWLY __attribute__((noinline))
#define OUT_OF_POOLS 513 /* smallest request that Python's pools pass on to the raw domain */

/* Allocator below a hook. It is called with its original context. */
typedef struct Under {
  Allocator allocator;
  bool gil;    /* callers of this domain hold it */
  bool in;     /* the hook is in the chain, on top or below other hooks */
  bool passes; /* blocks of OUT_OF_POOLS bytes and more are freed through the raw domain */
} Under;

static Under under[DOMAINS] = {
    [DOMAIN_RAW] = {.gil = false}, [DOMAIN_MEM] = {.gil = true}, [DOMAIN_OBJECT] = {.gil = true}};
static void *_Atomic probe; /* a block that is expected in the raw domain's free, or NULL */

static inline bool goes_on(size_t n) { return LIKELY((countdown.left -= (int64_t)n) >= 0); }

static void *chosen(const Under *u, void *block, size_t n) {
  if (block)
    heap_sample(block, n, u->gil);
  else
    countdown.left += (int64_t)n; /* nothing was allocated */
  return block;
}

/* A block that may be sampled is allocated outside the pools. So only frees of the raw domain have to
   be checked, and frees of small blocks, the most frequent ones, cost nothing extra. */
static size_t with_room(const Under *u, size_t n) { return u->passes && n < OUT_OF_POOLS ? OUT_OF_POOLS : n; }

SLOWLY static void *malloc_chosen(const Under *u, void *context, size_t n) {
  return chosen(u, u->allocator.malloc(context, with_room(u, n)), n);
}

SLOWLY static void *calloc_chosen(const Under *u, void *context, size_t n, size_t size) {
  return chosen(u, u->allocator.calloc(context, 1, with_room(u, n * size)), n * size);
}

/* A reallocation counts as a freed block and an allocated one, even if the address is the same. */
SLOWLY static void *realloc_checked(const Under *u, void *context, void *old, size_t n) {
  Taken taken;
  bool was_sampled = old && heap_take(old, &taken), due = countdown.left < 0;
  void *block = u->allocator.realloc(context, old, due ? with_room(u, n) : n);
  if (was_sampled && !block)
    heap_put_back(&taken);
  return due ? chosen(u, block, n) : block;
}

SLOWLY static void free_checked(const Under *u, void *context, void *block) {
  Taken taken;
  if (block == probe)
    probe = NULL;
  heap_take(block, &taken);
  u->allocator.free(context, block);
}

/* One set of functions for each domain, because `context` belongs to the allocator below. The
   `whole_` functions are used if the raw domain is counted too: the other domains pass requests
   over 512 bytes on to it, which must not be counted twice. Python has checked the product of
   calloc for overflow. */
#define HOOKS(name, domain)                                                                                \
  static void *malloc_##name(void *context, size_t n) {                                                    \
    const Under *u = &under[domain];                                                                       \
    return goes_on(n) ? u->allocator.malloc(context, n) : malloc_chosen(u, context, n);                    \
  }                                                                                                        \
  static void *calloc_##name(void *context, size_t n, size_t size) {                                       \
    const Under *u = &under[domain];                                                                       \
    return goes_on(n * size) ? u->allocator.calloc(context, n, size) : calloc_chosen(u, context, n, size); \
  }                                                                                                        \
  static void *realloc_##name(void *context, void *old, size_t n) {                                        \
    const Under *u = &under[domain];                                                                       \
    bool unknown = !may_be_sampled(old);                                                                   \
    return goes_on(n) && LIKELY(unknown) ? u->allocator.realloc(context, old, n)                           \
                                         : realloc_checked(u, context, old, n);                            \
  }                                                                                                        \
  static void free_##name(void *context, void *block) {                                                    \
    const Under *u = &under[domain];                                                                       \
    if (LIKELY(!may_be_sampled(block)))                                                                    \
      u->allocator.free(context, block);                                                                   \
    else                                                                                                   \
      free_checked(u, context, block);                                                                     \
  }                                                                                                        \
  static void *whole_malloc_##name(void *context, size_t n) {                                              \
    if (countdown.inside)                                                                                  \
      return under[domain].allocator.malloc(context, n);                                                   \
    countdown.inside = true;                                                                               \
    void *block = malloc_##name(context, n);                                                               \
    countdown.inside = false;                                                                              \
    return block;                                                                                          \
  }                                                                                                        \
  static void *whole_calloc_##name(void *context, size_t n, size_t size) {                                 \
    if (countdown.inside)                                                                                  \
      return under[domain].allocator.calloc(context, n, size);                                             \
    countdown.inside = true;                                                                               \
    void *block = calloc_##name(context, n, size);                                                         \
    countdown.inside = false;                                                                              \
    return block;                                                                                          \
  }                                                                                                        \
  static void *whole_realloc_##name(void *context, void *old, size_t n) {                                  \
    if (countdown.inside)                                                                                  \
      return under[domain].allocator.realloc(context, old, n);                                             \
    countdown.inside = true;                                                                               \
    void *block = realloc_##name(context, old, n);                                                         \
    countdown.inside = false;                                                                              \
    return block;                                                                                          \
  }

HOOKS(raw, DOMAIN_RAW)
HOOKS(mem, DOMAIN_MEM)
HOOKS(object, DOMAIN_OBJECT)

#define PLAIN(name) {NULL, malloc_##name, calloc_##name, realloc_##name, free_##name}
#define WHOLE(name) {NULL, whole_malloc_##name, whole_calloc_##name, whole_realloc_##name, free_##name}
static const Allocator plain[DOMAINS] = {PLAIN(raw), PLAIN(mem), PLAIN(object)};
static const Allocator whole[DOMAINS] = {WHOLE(raw), WHOLE(mem), WHOLE(object)};

/* In the raw domain the free is always hooked, the requests only if they are counted. */
static bool is_hook(Domain domain, const Allocator *allocator) {
  if (domain == DOMAIN_RAW)
    return allocator->free == free_raw;
  return allocator->malloc == plain[domain].malloc || allocator->malloc == whole[domain].malloc;
}

/* Return whether a block of the domain is freed through the raw domain's hook. */
static bool arrives(Domain domain, size_t n) {
  void *block = ask_allocator(domain, n);
  if (!block)
    return false;
  probe = block;
  blocks_watch((uintptr_t)block);
  return_to_allocator(domain, block);
  blocks_unwatch((uintptr_t)block);
  return !atomic_exchange(&probe, NULL);
}

static Allocator over(Domain domain, const Allocator *current, bool all) {
  Allocator ours = all ? whole[domain] : plain[domain];
  ours.context = current->context;
  if (domain != DOMAIN_RAW && under[domain].passes)
    ours.free = current->free;
  if (domain == DOMAIN_RAW && !all)
    ours = (Allocator){current->context, current->malloc, current->calloc, current->realloc, free_raw};
  return ours;
}

static void put_in(Domain domain, bool all) {
  Allocator current;
  get_allocator(domain, &current);
  if (is_hook(domain, &current))
    return;
  under[domain].passes = domain != DOMAIN_RAW && arrives(domain, OUT_OF_POOLS);
  under[domain].allocator = current;
  under[domain].in = true;
  Allocator ours = over(domain, &current, all);
  set_allocator(domain, &ours);
}

void hooks_put_in(bool raw) {
  for (int domain = DOMAIN_RAW; domain < DOMAINS; domain++)
    if (!under[domain].in)
      put_in((Domain)domain, raw);
}

void hooks_take_out(void) {
  for (int domain = 0; domain < DOMAINS; domain++) {
    Allocator current;
    get_allocator((Domain)domain, &current);
    if (!under[domain].in || !is_hook((Domain)domain, &current))
      continue;
    set_allocator((Domain)domain, &under[domain].allocator);
    under[domain].in = false;
  }
}

static bool is_asked(Domain domain) {
  int64_t left = countdown.left;
  countdown.left = 1 << 20;
  return_to_allocator(domain, ask_allocator(domain, 16));
  bool reached = countdown.left < 1 << 20;
  countdown.left = left;
  return reached;
}

static bool is_reached(Domain domain) { return domain == DOMAIN_RAW ? arrives(domain, 16) : is_asked(domain); }

bool hooks_are_reached(void) {
  bool all = true;
  for (int domain = 0; domain < DOMAINS; domain++)
    if (under[domain].in && !is_reached((Domain)domain)) {
      under[domain].in = false;
      all = false;
    }
  return all;
}
