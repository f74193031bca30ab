/* CPU timers: one per thread, on that thread's own CPU clock.

   The kernel interrupts a thread when it has used the given CPU time. A sampler thread on a busy
   core would run only when the others do not, and see them where they wait. */
#ifndef FLAMEWATCH_TIMERS_H
#define FLAMEWATCH_TIMERS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define TIMERS_MAX 1024

typedef struct Timer {
  atomic_int thread; /* native id; 0: free */
  timer_t id;
  _Atomic int64_t last;  /* the thread's CPU clock at its last sample */
  _Atomic int64_t bonus; /* further time that the first sample represents; 0 once it was taken */
  int64_t looked_at;     /* its CPU clock when timer_overdue() last read it */
  uint64_t dice;
} Timer;

typedef enum Armed { ARMED, ALREADY_ARMED, NOT_ARMED } Armed;

void timers_open(int signal, int64_t period_ns);

/* Create a timer. `newborn`: the thread began during the capture, so CPU time that it has used
   before counts too; if that is more than the first interval, `owed` is the value of a sample to
   take now. ALREADY_ARMED: another thread state has the same thread (subinterpreters; new
   threads). */
Armed timer_arm(pid_t thread, bool newborn, Timer **timer, int64_t *owed);
void timer_release(Timer *timer);
void timers_release_all(void);

/* Discard the timers in a forked child: a fork does not inherit them. */
void timers_forget(void);

/* Return the timer that sent this signal; NULL if it was none of them. Async-signal-safe. */
Timer *timer_of(const siginfo_t *info);

/* Return the CPU time that the current sample represents, and set the timer anew.
   Async-signal-safe; call on the timer's own thread. */
int64_t timer_next(Timer *timer);

/* Return the CPU time that a sample taken now by the sampler thread would represent; 0 if none
   is overdue. Kernels check a CPU timer when their tick finds its thread running. A thread that
   shares a core in step with the tick may never be found, and one that blocks the signal is not
   interrupted. */
int64_t timer_overdue(Timer *timer);

#endif
