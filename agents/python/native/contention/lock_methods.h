/* Methods by which Python code takes locks, and their replacements during a capture.

   The functions in the method tables of `_thread.lock` and `_thread.RLock` are replaced. So all
   locks are covered, also existing ones, and with them conditions, queues and events. */
#ifndef FLAMEWATCH_LOCK_METHODS_H
#define FLAMEWATCH_LOCK_METHODS_H

/* Return NULL, or the reason why replacing is not possible here. With the GIL. */
const char *why_no_lock_methods(void);

/* Replace the methods. With the GIL. Return NULL, or the reason of a failure; then nothing is
   changed. */
const char *lock_methods_replace(void);
void lock_methods_restore(void);

#endif
