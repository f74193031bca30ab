/* CONTENTION: time that threads wait for locks that others hold, by stack. All functions need
   the GIL. */
#ifndef FLAMEWATCH_CONTENTION_H
#define FLAMEWATCH_CONTENTION_H

#include "capture/capture.h"

/* Start a capture. Return NULL, or the reason why that is not possible. */
const char *contention_start(Capture *capture, const Options *options);

/* End the capture. Waits that have not ended count until now. */
void contention_stop(void);

/* Discard the capture in a forked child. */
void contention_forget(void);

#endif
