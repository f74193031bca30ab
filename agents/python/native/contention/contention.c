#include "contention/contention.h"

#include "contention/lock_methods.h"
#include "contention/lock_waits.h"

static bool running;

const char *contention_start(Capture *capture, const Options *options) {
  if (!lock_waits_open(capture, options))
    return "there is no memory for the capture's tables";
  const char *problem = lock_methods_replace();
  running = !problem;
  if (problem) {
    lock_waits_close();
    capture_close(capture);
  }
  return problem;
}

void contention_stop(void) {
  lock_methods_restore();
  lock_waits_end();
  contention_forget();
}

void contention_forget(void) {
  if (running)
    lock_methods_restore();
  running = false;
  lock_waits_close();
}
