"""Filters of log records."""

import asyncio
import logging
import re

# Paths that end with a secret.
_SECRET_PATH = re.compile(r"(/invitations/)[\w-]+")


# A program polls it every few seconds, and gets 400 until a person has confirmed its code.
_POLLED_PATH = "/device/token"


class ClientErrorFilter(logging.Filter):
    """Drop the tracebacks of responses to clients' errors, and responses that are no errors.

    Django logs a traceback for each forbidden page and each foreign `Host`, with which anyone could
    fill the log.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        status = getattr(record, "status_code", None)
        if isinstance(status, int) and 400 <= status < 500:
            record.exc_info = record.exc_text = None
            return getattr(getattr(record, "request", None), "path", "") != _POLLED_PATH
        return True


class CancelledRequestFilter(logging.Filter):
    """Drop uvicorn's record of each request that it cancels when it stops.

    It has a traceback of the program's own code. One line before says how many there are.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        kind = record.exc_info[0] if record.exc_info else None
        return not (kind is asyncio.CancelledError and record.name == "uvicorn.error")


class SecretPathFilter(logging.Filter):
    """Remove the token from the path of an invitation: whoever has it may join a project."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(
                _SECRET_PATH.sub(r"\1[token]", value) if isinstance(value, str) else value
                for value in record.args
            )
        return True
