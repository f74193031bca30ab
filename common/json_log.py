"""Log records as JSON, one object in each line."""

import logging
from datetime import UTC, datetime

import orjson


class JsonFormatter(logging.Formatter):
    """Formatter whose lines have time, level, logger, message, process, thread and exception."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
            "thread": record.threadName,
        }
        if record.exc_info and record.exc_info[0] is not None:
            fields["exception"] = self.formatException(record.exc_info)
        elif record.exc_text:
            fields["exception"] = record.exc_text
        if record.stack_info:
            fields["stack"] = record.stack_info
        # Names in messages may have characters that UTF-8 does not encode.
        text = {
            key: value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
            for key, value in fields.items()
        }
        return orjson.dumps(text).decode()
