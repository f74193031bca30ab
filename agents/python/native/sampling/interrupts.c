#include "sampling/interrupts.h"

#include <Python.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clocks.h"
#include "interpreter/context.h"
#include "interpreter/tasks.h"
#include "interpreter/walk.h"
#include "sampling/fresh_codes.h"
#include "sampling/timers.h"

enum { FREE, FILLING, READY };

typedef struct Slot {
  atomic_int state;
  pid_t thread;
  int64_t value;
  Walked walked;
  FreshCodes fresh;
  Walk walk; /* followed by its positions and the memory of `fresh` */
} Slot;

static char *slots;
static size_t slot_bytes, fresh_peak;
static int slots_n, slots_used; /* the pages of further slots were never touched */
static bool handler_set;
static struct sigaction previous;
static atomic_bool taking; /* handlers may use the slots */
static atomic_int inside;  /* number of handlers that do */
static atomic_llong no_slot, lost, handlers_cpu_ns;

static Slot *slot(int i) { return (Slot *)(slots + (size_t)i * slot_bytes); }

/* Claim the first free slot, so that pages of further slots stay untouched. */
static Slot *claim_slot(void) {
  for (int i = 0; i < slots_n; i++) {
    int expected = FREE;
    if (atomic_compare_exchange_strong(&slot(i)->state, &expected, FILLING))
      return slot(i);
  }
  return NULL;
}

/* The handler may interrupt the host anywhere, also inside malloc: it may only use system calls
   and its own memory. PyGILState_GetThisThreadState only reads a thread-specific value. */
static void take_sample(Timer *timer) {
  pid_t thread = (pid_t)syscall(SYS_gettid);
  if (timer->thread != thread)
    return; /* the timer was released, and may have been given to another thread */
  int64_t value = timer_next(timer);
  uintptr_t ts = (uintptr_t)PyGILState_GetThisThreadState();
  Slot *s = claim_slot();
  if (!s) {
    no_slot++;
    lost += value;
    return;
  }
  s->thread = thread;
  s->value = value;
  s->walk.depth = s->walk.label_n = 0;
  if (!ts)
    s->walked = WALK_EMPTY;
  else
    s->walked = walk_read_state(&s->walk, ts) ? walk_frames(&s->walk) : WALK_TORN;
  if (s->walked == WALK_OK) {
    context_read(&s->walk);
    tasks_name(&s->walk);
    fresh_codes_read(&s->fresh, &s->walk);
  }
  atomic_store(&s->state, READY);
}

static void take_timed_sample(Timer *timer) {
  int64_t began = own_cpu_ns();
  take_sample(timer);
  handlers_cpu_ns += own_cpu_ns() - began;
}

/* A handler that the host installed later may call this one in turn; this stops the recursion. */
static __thread bool chaining __attribute__((tls_model("initial-exec")));

static void call_previous(int number, siginfo_t *info, void *context) {
  if (chaining)
    return;
  chaining = true;
  if (previous.sa_flags & SA_SIGINFO)
    previous.sa_sigaction(number, info, context);
  else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
    previous.sa_handler(number);
  chaining = false;
}

static void on_signal(int number, siginfo_t *info, void *context) {
  int saved = errno;
  Timer *timer = timer_of(info);
  if (!timer) {
    call_previous(number, info, context);
  } else {
    inside++;
    if (taking)
      take_timed_sample(timer);
    inside--;
  }
  errno = saved;
}

static bool is_ours(const struct sigaction *action) {
  return action->sa_flags & SA_SIGINFO && action->sa_sigaction == on_signal;
}

static bool set_handler(void) {
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
  struct sigaction current;
  sigfillset(&action.sa_mask);
  if (sigaction(SAMPLE_SIGNAL, NULL, &current))
    return false;
  /* The handler may still be installed below one of the host that calls its predecessor. Don't
     chain to itself. */
  if (!is_ours(&current))
    previous = current;
  return handler_set = !sigaction(SAMPLE_SIGNAL, &action, NULL);
}

static void restore_handler(void) {
  struct sigaction current;
  if (handler_set && !sigaction(SAMPLE_SIGNAL, NULL, &current) && is_ours(&current))
    sigaction(SAMPLE_SIGNAL, &previous, NULL);
  handler_set = false;
}

bool interrupts_taken_over(void) {
  struct sigaction current;
  return !sigaction(SAMPLE_SIGNAL, NULL, &current) && !is_ours(&current);
}

static int slots_for_this_machine(void) {
  long n = 32 + 4 * sysconf(_SC_NPROCESSORS_ONLN);
  return (int)(n < 512 ? n : 512);
}

static void free_slots(void) {
  if (slots)
    munmap(slots, slot_bytes * (size_t)slots_n);
  slots = NULL;
}

static size_t positions_end(int max_depth) {
  return (sizeof(Slot) + (size_t)max_depth * sizeof(CodePosition) + 63) & ~(size_t)63;
}

static void prepare_slot(Slot *s, int max_depth) {
  s->walk.max_depth = max_depth;
  s->fresh.arena = (Arena){(char *)s + positions_end(max_depth), 0, FRESH_BYTES};
}

bool interrupts_open(const Options *options) {
  slots_n = slots_for_this_machine();
  slot_bytes = positions_end(options->max_depth) + FRESH_BYTES;
  void *memory = mmap(NULL, slot_bytes * (size_t)slots_n, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return false;
  slots = memory;
  for (int i = 0; i < slots_n; i++)
    prepare_slot(slot(i), options->max_depth);
  no_slot = lost = handlers_cpu_ns = 0;
  slots_used = 0;
  fresh_peak = 0;
  fresh_codes_open();
  timers_open(SAMPLE_SIGNAL, options->period_ns);
  if (!set_handler()) {
    free_slots();
    return false;
  }
  taking = true;
  return true;
}

void interrupts_drain(Capture *capture) {
  for (int i = 0; i < slots_n; i++) {
    Slot *s = slot(i);
    if (atomic_load(&s->state) != READY)
      continue;
    slots_used = i >= slots_used ? i + 1 : slots_used;
    fresh_peak = s->fresh.arena.used > fresh_peak ? s->fresh.arena.used : fresh_peak;
    fresh_codes_move(&s->fresh, &capture->codes, &capture->arena);
    if (!is_excluded(capture, s->thread))
      record(capture, &s->walk, s->walked, s->thread, s->value);
    atomic_store(&s->state, FREE);
  }
}

/* A handler's thread may have been preempted, and may need this core to continue. */
static bool wait_for_handlers(void) {
  struct timespec moment = timespec_of(1000000);
  for (int i = 0; inside && i < 200; i++)
    nanosleep(&moment, NULL);
  return !inside;
}

void interrupts_close(Capture *capture) {
  timers_release_all();
  taking = false;
  bool quiet = wait_for_handlers();
  interrupts_drain(capture);
  capture->memory_bytes += (size_t)slots_used * (slot_bytes - FRESH_BYTES + fresh_peak);
  capture->counts.no_slot += no_slot;
  capture->counts.lost += lost;
  capture->sampler_cpu_ns += handlers_cpu_ns;
  restore_handler();
  if (!quiet)
    slots = NULL; /* a thread still writes to them: leaking them is better than reuse */
  free_slots();
  slots_n = 0;
}

void interrupts_forget(void) {
  taking = false;
  inside = 0;
  timers_forget();
  restore_handler();
  free_slots();
  slots_n = 0;
}
