/* The methods by which Python code takes locks, and ours in their place.

   What is replaced is the function in the method tables of `_thread.lock` and `_thread.RLock`: so all
   locks take part, those that exist already too, and with them conditions, queues and events. */
#ifndef FLAMEWATCH_LOCK_METHODS_H
#define FLAMEWATCH_LOCK_METHODS_H

/* NULL, or why that is not possible here. With the GIL. */
const char *why_no_lock_methods(void);

/* With the GIL. NULL, or why it failed; then all is as before. */
const char *lock_methods_replace(void);
void lock_methods_restore(void);

#endif
