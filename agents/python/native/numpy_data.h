/* The memory of NumPy's arrays, which passes none of Python's allocators.

   NumPy (1.22 and later) has one default handler, which every thread uses that was not told of
   another; its functions are replaced in place. */
#ifndef FLAMEWATCH_NUMPY_DATA_H
#define FLAMEWATCH_NUMPY_DATA_H

#include <stdbool.h>

/* With the GIL. True: it is counted from now on, or was already; false: NumPy is not loaded, or not
   as expected. */
bool numpy_put_in(void);

/* With the GIL. As it was, unless somebody came after us: then ours pass everything through. */
void numpy_take_out(void);

#endif
