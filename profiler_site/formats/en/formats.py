"""Date formats of English pages. Each language has a module with these names."""

DAY_FORMAT = "j M Y"
MINUTE_FORMAT = "j M, H:i"
WEEKDAY_FORMAT = "D j"
WEEKDAY_MINUTE_FORMAT = "D j M, H:i"
WEEKDAY_SECOND_FORMAT = "D j M, H:i:s"
