/* CPU samples: the signal handler that takes them, and the slots in which it stores them. */
#ifndef FLAMEWATCH_INTERRUPTS_H
#define FLAMEWATCH_INTERRUPTS_H

#include <signal.h>
#include <stdbool.h>

#include "capture/capture.h"

/* SIGURG is ignored by default, so that a late signal does no harm. Hardly any program uses it,
   and the Go runtime, which does, forwards signals that are not its own. */
#define SAMPLE_SIGNAL SIGURG

/* Return false if there is no memory, or if the kernel rejects the handler. */
bool interrupts_open(const Options *options);

/* Stop sampling. When this returns, no handler uses a slot any more, and the host's handler is
   restored. */
void interrupts_close(Capture *capture);

/* Return whether the host has replaced the handler. */
bool interrupts_taken_over(void);

/* Move samples from the slots to the capture's tables. */
void interrupts_drain(Capture *capture);

/* Discard everything in a forked child. */
void interrupts_forget(void);

#endif
