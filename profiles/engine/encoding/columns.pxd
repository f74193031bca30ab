"""Reading of single columns, for readers of whole trees."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

cdef enum:
    MAX_ROWS = 0x8000000  # rows of one column

cdef uint32_t widen_1(const uint8_t[::1] data, Py_ssize_t at, int32_t[::1] out) except? 7 nogil
cdef uint32_t widen_2(const uint8_t[::1] data, Py_ssize_t at, int32_t[::1] out) except? 7 nogil
cdef uint32_t widen_4(const uint8_t[::1] data, Py_ssize_t at, int32_t[::1] out) except? 7 nogil
cdef int find_parents(int32_t[::1] distance) except -1 nogil
cdef int sum_steps(int32_t[::1] steps, int64_t below) except -1 nogil
