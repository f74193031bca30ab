"""Number formats of Spanish pages: a decimal point, as in units, SVG and the browser's modules."""

DECIMAL_SEPARATOR = "."
THOUSAND_SEPARATOR = ","
