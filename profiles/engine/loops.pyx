"""Compiled loops of the engine that NumPy cannot express, in one module so that they inline.

Bounds are checked everywhere, because many loops read bytes from untrusted senders. The GIL is
released wherever no Python object is used. Each part is a file in parts/.
"""

import secrets

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

import numpy as np

from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.limits import MAX_NAME_BYTES, MAX_SAMPLE_TYPES, setting

include "parts/ids.pxi"
include "parts/sums.pxi"
include "parts/texts.pxi"
include "parts/forest.pxi"
include "parts/walks.pxi"
include "parts/stored.pxi"
include "parts/blocks.pxi"
include "parts/moments.pxi"
include "parts/tails.pxi"
include "parts/packed_columns.pxi"
include "parts/packed_trees.pxi"
include "parts/line_trees.pxi"
include "parts/wire.pxi"
include "parts/spans.pxi"
include "parts/messages.pxi"
include "parts/strings.pxi"
include "parts/functions.pxi"
include "parts/symbols.pxi"
include "parts/labels.pxi"
include "parts/call_nodes.pxi"
include "parts/stacks.pxi"
