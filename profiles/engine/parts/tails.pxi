# Tail probabilities of distributions, for arrays.

from libc.math cimport erfc


def erfcs(const double[::1] x):
    """Return the complementary error function of each number, float64 [len(x)]."""
    found = np.empty(x.shape[0])
    cdef double[::1] out = found
    cdef Py_ssize_t i
    with nogil:
        for i in range(x.shape[0]):
            out[i] = erfc(x[i])
    return found
