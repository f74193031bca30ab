"""Database function that converts times to µs since 1970."""

from typing import Any

from django.db.models import BigIntegerField, Func
from django.db.models.sql.compiler import SQLCompiler


class Micros(Func):
    """Value of a DateTimeField in µs since 1970, an exact integer on PostgreSQL and SQLite."""

    output_field = BigIntegerField()

    def as_sqlite(self, compiler: SQLCompiler, connection: Any, **extra: Any) -> Any:
        # SQLite stores times as text, with six fractional digits or none.
        template = (
            "(CAST(strftime('%%%%s', %(expressions)s) AS INTEGER) * 1000000"
            " + CAST(substr(%(expressions)s, 21, 6) AS INTEGER))"
        )
        return self.as_sql(compiler, connection, template=template, **extra)

    def as_postgresql(self, compiler: SQLCompiler, connection: Any, **extra: Any) -> Any:
        template = "(extract(epoch from %(expressions)s) * 1000000)::bigint"
        return self.as_sql(compiler, connection, template=template, **extra)
