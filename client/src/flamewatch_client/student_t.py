"""Student's t: quantile of a 95 % interval, tail probability, and degrees of freedom."""

from math import exp, lgamma, log, log1p

_Z = 1.959963984540054  # 97.5 % of the normal distribution
# Cornish-Fisher expansion: entry i is the coefficient of df**-i; within 0.1 % from 5 df on.
_TERMS = (
    _Z,
    (_Z**3 + _Z) / 4,
    (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / 96,
    (3 * _Z**7 + 19 * _Z**5 + 17 * _Z**3 - 15 * _Z) / 384,
)
_TINY = 1e-300
_PRECISION = 1e-10
_BISECTIONS = 40
_FRACTIONS = 300  # of the continued fraction; it converges within some dozens


def compute_half_width(df: float) -> float:
    """Return the half width of a 95 % interval, in standard errors."""
    return sum(term / df**power for power, term in enumerate(_TERMS))


def compute_two_sided_p(t: float, df: float) -> float:
    """Return the probability that |T| ≥ |t|: an incomplete beta function."""
    square = t * t
    x = df / (df + square)
    a, b = df / 2, 0.5
    scale = exp(
        lgamma(a + b) - lgamma(a) - lgamma(b) - a * log1p(square / df) + b * log(1 - x or _TINY)
    )
    if x < (a + 1) / (a + b + 2):
        return scale * _expand_beta(x, a, b) / a
    return 1 - scale * _expand_beta(1 - x, b, a) / b


def find_degrees_of_freedom(ratio: float, p: float, low: float, high: float) -> float:
    """Return the degrees of freedom at which a test has this two-sided p, from `low` to `high`.

    `ratio` is that of the difference to the half width of its 95 % interval, above 1: there p falls
    with the degrees of freedom.
    """
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if compute_two_sided_p(ratio * compute_half_width(middle), middle) > p:
            low = middle
        else:
            high = middle
    return low


def _expand_beta(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1 / _avoid_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _FRACTIONS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            d = 1 / _avoid_zero(1 + step * d)
            c = _avoid_zero(1 + step / c)
            value *= c * d
        if abs(c * d - 1) < _PRECISION:
            break
    return value


def _avoid_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
