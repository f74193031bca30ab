/* CPU samples: the signal handler that takes them, and the slots it leaves them in. */
#ifndef FLAMEWATCH_INTERRUPTS_H
#define FLAMEWATCH_INTERRUPTS_H

#include <signal.h>
#include <stdbool.h>

#include "capture.h"

/* Ignored by default, so that one which comes late does no harm; hardly anybody uses it, and the
   Go runtime, which does, passes on what is not its own. */
#define SAMPLE_SIGNAL SIGURG

/* False: no memory, or the kernel refuses the handler. */
bool interrupts_open(const Options *options);

/* No handler touches a slot any more when this returns; the host's own is back. */
void interrupts_close(Capture *capture);

/* Somebody else has put a handler over ours. */
bool interrupts_taken_over(void);

/* Moves samples from the slots into the capture's tables. */
void interrupts_drain(Capture *capture);

/* In the child after a fork. */
void interrupts_forget(void);

#endif
