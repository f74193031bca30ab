/* The sampler thread: one per capture, with all signals blocked, without the GIL. */
#ifndef FLAMEWATCH_SAMPLER_H
#define FLAMEWATCH_SAMPLER_H

#include <stdbool.h>

#include "capture.h"

/* Begins a capture. Returns NULL, or why that is not possible. */
const char *sampler_start(Capture *capture, const Options *options);

/* Ends it; false if the thread did not stop within a second (its memory is then left to it). */
bool sampler_stop(Capture *capture);

/* In the child after a fork: there is no thread any more, and its memory is not used. */
void sampler_forget(Capture *capture);

#endif
