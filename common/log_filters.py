"""Filters of log records."""

import logging
import re

# Paths that end with a secret.
_SECRET_PATH = re.compile(r"(/invitations/)[\w-]+")


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


class SecretPathFilter(logging.Filter):
    """Remove the token from the path of an invitation: whoever has it may join a project."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(
                _SECRET_PATH.sub(r"\1[token]", value) if isinstance(value, str) else value
                for value in record.args
            )
        return True
