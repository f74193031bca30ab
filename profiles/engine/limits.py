"""How large a profile may be; the fields are named like the settings that set them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DigestLimits:
    max_samples: int = 1_000_000
    max_depth: int = 10_000  # frames in one stack, inlined ones included
    max_nodes: int = 2_000_000  # of the call tree
    max_symbols: int = 1_000_000  # strings, functions, locations, lines: each
    max_sample_labels: int = 500_000  # samples with the same labels count once
    max_total: int = 2**56  # of all values of a metric; 2.3 years in ns, 64 PiB
    max_stack_frames: int = 100_000_000  # over all stacks: bounds the time a digest takes
    negative: bool = False  # values below zero, as in differences of profiles


def setting(field: str) -> str:
    """The name of the setting behind a field, for messages."""
    return f"FLAMEWATCH_{field.upper()}"
