/* Sampler thread: one per capture, with all signals blocked, without the GIL. */
#ifndef FLAMEWATCH_SAMPLER_H
#define FLAMEWATCH_SAMPLER_H

#include <stdbool.h>

#include "capture/capture.h"

/* Start a capture. Return NULL, or the reason why that is not possible. */
const char *sampler_start(Capture *capture, const Options *options);

/* End the capture. Return false if the thread did not stop within a second (its memory is then
   leaked). */
bool sampler_stop(Capture *capture);

/* Discard the capture in a forked child, in which the thread does not exist, without using its
   memory. */
void sampler_forget(Capture *capture);

#endif
