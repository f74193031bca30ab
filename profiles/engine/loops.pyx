"""The loops of the engine that NumPy has no word for, in one module so that they inline.

Bounds are checked everywhere, for many of these read bytes that strangers send; the GIL is given
back where no Python object is touched. Each part is one file of parts/.
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
