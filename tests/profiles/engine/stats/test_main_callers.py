"""Selection of callers among some functions of a tree."""

from collections.abc import Sequence

import numpy as np
import pytest

from profiles.engine.stats.time_series import select_callers


@pytest.mark.parametrize(
    ("callers", "chosen", "order", "expected"),
    [
        ([-1, 0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3], [-1, 0, 1, 2]),
        ([-1, 0, 1, 2], [3, 0], [0, 1], [1, -1]),  # 1 and 2 are passed over
        ([-1, 0, 1], [2], [0], [-1]),
        ([1, 0], [0, 1], [0, 1], [1, -1]),  # a cycle: the first in the order has its caller
        ([1, 0], [0, 1], [1, 0], [-1, 0]),
        ([2, 0, 1], [0, 1], [0, 1], [1, -1]),  # a cycle through a function that is not chosen
        ([2, 0, 1], [0], [0], [-1]),
        ([1, 2, 1], [0], [0], [-1]),  # a cycle above the only function that is chosen
        ([0], [0], [0], [-1]),
    ],
)
def test_nearest_chosen_callers_form_no_cycle(
    callers: Sequence[int], chosen: Sequence[int], order: Sequence[int], expected: Sequence[int]
) -> None:
    selected = select_callers(np.array(callers), np.array(chosen), order)
    assert selected.tolist() == expected
