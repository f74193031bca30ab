"""Conversion of a file, run in a worker process: it imports neither Django nor settings."""

from dataclasses import replace

from ingest.formats.detect import ConvertedFile, FileFormat, import_file
from ingest.formats.import_options import ImportOptions


def convert_file(
    body: bytes, options: ImportOptions, max_raw: int, stated: FileFormat | None
) -> ConvertedFile:
    """Convert a file as import_file does; a profile that is the file itself comes without bytes.

    The caller has a pprof file already, gzipped where this one would return it unpacked.
    """
    file = import_file(body, options, max_raw, stated)
    if file.format is not FileFormat.PPROF:
        return file
    return replace(file, profiles=[replace(each, pprof=b"") for each in file.profiles])
