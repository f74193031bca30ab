/* Hooks for the memory of NumPy's arrays, which does not use Python's allocators.

   NumPy (1.22 and later) has one default handler, used by every thread that has not set another;
   its functions are replaced in place. */
#ifndef FLAMEWATCH_NUMPY_DATA_H
#define FLAMEWATCH_NUMPY_DATA_H

#include <stdbool.h>

/* Install the hooks. With the GIL. Return true if array memory is counted from now on or was
   before; false if NumPy is not imported, or has an unknown layout. */
bool numpy_put_in(void);

/* Remove the hooks. With the GIL. If other code replaced them, they stay and pass everything
   through. */
void numpy_take_out(void);

#endif
