/* One timer per thread, on that thread's own CPU clock.

   The kernel interrupts a thread when it has used so much CPU time: on a busy core a sampler thread
   would only run when the others don't, and see them where they wait. */
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
  _Atomic int64_t bonus; /* what the first sample stands for beside; 0 once it was taken */
  int64_t looked_at;     /* its CPU clock when it was last asked whether it is overdue */
  uint64_t dice;
} Timer;

typedef enum Armed { ARMED, ALREADY_ARMED, NOT_ARMED } Armed;

void timers_open(int signal, int64_t period_ns);

/* `newborn`: the thread began during the capture, so what it has used before counts too; if that is
   more than the first interval, `owed` says what a sample taken now stands for. ALREADY_ARMED:
   another thread state has the same thread (subinterpreters; new threads). */
Armed timer_arm(pid_t thread, bool newborn, Timer **timer, int64_t *owed);
void timer_release(Timer *timer);
void timers_release_all(void);

/* In the child after a fork: timers are not inherited. */
void timers_forget(void);

/* Which of our timers sent this signal; NULL if none of them. Async-signal-safe. */
Timer *timer_of(const siginfo_t *info);

/* How much CPU time the sample that is being taken stands for; sets the timer anew.
   Async-signal-safe; to be called on the timer's own thread. */
int64_t timer_next(Timer *timer);

/* How much CPU time a sample that is taken now, from outside, stands for; 0: none is due.
   Kernels look at a CPU timer when their tick finds its thread running. A thread that shares a core
   in step with the tick may never be found, and one that blocks the signal is not interrupted. */
int64_t timer_overdue(Timer *timer);

#endif
