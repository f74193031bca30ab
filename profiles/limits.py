"""Limits on the size of uploaded profiles, from the site's settings."""

from functools import cache

from django.conf import settings
from django.core.signals import setting_changed
from django.dispatch import receiver

from profiles.engine.pprof.limits import DecodeLimits


@cache
def decode_limits() -> DecodeLimits:
    return DecodeLimits(
        max_samples=settings.MAX_SAMPLES,
        max_depth=settings.MAX_DEPTH,
        max_nodes=settings.MAX_NODES,
        max_symbols=settings.MAX_SYMBOLS,
        max_sample_labels=settings.MAX_SAMPLE_LABELS,
        max_string_bytes=settings.MAX_STRING_BYTES,
        max_expansion=settings.MAX_EXPANSION,
        max_total=settings.MAX_TOTAL,
        max_stack_frames=settings.MAX_STACK_FRAMES,
    )


@receiver(setting_changed)
def _forget(**_: object) -> None:
    decode_limits.cache_clear()
