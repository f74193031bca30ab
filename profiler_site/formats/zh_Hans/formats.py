"""Formats of Simplified Chinese pages: thousands in groups of three, as Intl has them."""

THOUSAND_SEPARATOR = ","
NUMBER_GROUPING = 3
DAY_FORMAT = "Y年n月j日"
MINUTE_FORMAT = "n月j日 H:i"
WEEKDAY_FORMAT = "j日D"
WEEKDAY_MINUTE_FORMAT = "n月j日D H:i"
WEEKDAY_SECOND_FORMAT = "n月j日D H:i:s"
