"""Filters of log records."""

import logging


class ClientErrorFilter(logging.Filter):
    """Drop the tracebacks of responses to clients' errors: one line says all of them.

    Django logs a traceback for each forbidden page and each foreign `Host`, with which anyone could
    fill the log.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        status = getattr(record, "status_code", None)
        if isinstance(status, int) and 400 <= status < 500:
            record.exc_info = record.exc_text = None
        return True
