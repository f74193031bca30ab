"""Formats of Spanish pages: a decimal point, as in units, SVG and the browser's modules."""

DECIMAL_SEPARATOR = "."
THOUSAND_SEPARATOR = ","
DAY_FORMAT = "j M Y"
MINUTE_FORMAT = "j M, H:i"
WEEKDAY_FORMAT = "D j"
WEEKDAY_MINUTE_FORMAT = "D j M, H:i"
WEEKDAY_SECOND_FORMAT = "D j M, H:i:s"
