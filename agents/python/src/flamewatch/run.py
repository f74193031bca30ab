"""Command `flamewatch-run [options] -- PROGRAM ARGUMENTS`: profile an unchanged Python program.

The program replaces this process. PYTHONPATH makes its interpreter load the `sitecustomize` in
flamewatch/bootstrap first, which starts the agent; the same holds for interpreters that the program
starts. `flamewatch-run --once cpu -o out.pb.gz -- python script.py` writes one profile to a file,
without a server. `flamewatch-run --path` prints the folder for PYTHONPATH, for deployments that can
set the environment but not the command.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from flamewatch import config
from flamewatch.capture.profile_types import ProfileType
from flamewatch.config import Arguments, Problems
from flamewatch.log import warn
from flamewatch.once import WHOLE_PROGRAM_SECONDS, Wish
from flamewatch.process.uwsgi import ENVIRON, is_uwsgi
from flamewatch.version import __version__

BOOTSTRAP = str(Path(__file__).with_name("bootstrap"))
# Process id of the program itself. Its child processes are profiled too, but log nothing.
MAIN_PROCESS = "FLAMEWATCH_RUN_PID"

_NOT_FOUND, _NOT_EXECUTABLE = 127, 126  # exit codes of shells


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    program = options.program[1:] if options.program[:1] == ["--"] else options.program
    if options.path:
        print(BOOTSTRAP)
        return 0
    if not program:
        _parser().error(
            "no program given; for example: flamewatch-run --service checkout -- gunicorn shop.wsgi"
        )
    environ = _with_options(options, os.environ)
    if options.once:
        environ = build_environment(environ | _wish(options).environ(), os.getpid())
    elif isinstance(problems := config.read(Arguments(), environ), Problems):
        warn(f"not profiling: {problems}")
    else:
        environ = build_environment(environ, os.getpid())
    if is_uwsgi(program):
        environ |= {name: value for name, value in ENVIRON.items() if name not in environ}
    return _become(program, environ)


def build_environment(environ: Mapping[str, str], pid: int) -> dict[str, str]:
    """Return the environment in which Python starts the agent."""
    others = [path for path in environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    paths = [BOOTSTRAP, *(path for path in others if path != BOOTSTRAP)]
    return {**environ, "PYTHONPATH": os.pathsep.join(paths), MAIN_PROCESS: str(pid)}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="flamewatch-run",
        description="Run a Python program under Flamewatch's profiler, without changing it.",
        epilog="Set FLAMEWATCH_URL to the server's address and FLAMEWATCH_KEY to an API key.",
    )
    parser.add_argument("--service", help="name of the service (or FLAMEWATCH_SERVICE)")
    parser.add_argument("--version", help="version of the program (or FLAMEWATCH_VERSION)")
    parser.add_argument("--zone", help="zone in which it runs (or FLAMEWATCH_ZONE)")
    parser.add_argument(
        "--path", action="store_true", help="print the folder to put first in PYTHONPATH"
    )
    once = parser.add_argument_group("one profile into a file, without a server")
    kinds = [kind.lower() for kind in ProfileType]
    once.add_argument("--once", choices=kinds, type=str.lower, help="profile type to capture")
    once.add_argument("-o", "--output", type=Path, help="file to write (default: TYPE.pb.gz)")
    once.add_argument(
        "--duration", type=_parse_seconds, help="seconds (default: until the program ends)"
    )
    parser.add_argument("--agent-version", action="version", version=__version__)
    parser.add_argument(
        "program", nargs=argparse.REMAINDER, help="program with its arguments, after --"
    )
    return parser


def _parse_seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < WHOLE_PROGRAM_SECONDS:
        raise argparse.ArgumentTypeError(
            f"{text} is not between 0 and {WHOLE_PROGRAM_SECONDS:.0f} s"
        )
    return seconds


def _wish(options: argparse.Namespace) -> Wish:
    output = (options.output or Path(f"{options.once}.pb.gz")).absolute()
    if not output.parent.is_dir():
        _parser().error(f"no such folder: {output.parent}")
    return Wish(
        ProfileType(options.once.upper()), output, options.duration or WHOLE_PROGRAM_SECONDS
    )


def _with_options(options: argparse.Namespace, environ: Mapping[str, str]) -> dict[str, str]:
    given = {name: getattr(options, name) for name in ("service", "version", "zone")}
    ours = {f"FLAMEWATCH_{name.upper()}": value for name, value in given.items() if value}
    return {**environ, **ours}


def _become(program: list[str], environ: Mapping[str, str]) -> int:
    try:
        os.execvpe(program[0], program, environ)  # noqa: S606  it is what the user asked for
    except OSError as error:
        print(f"flamewatch-run: {program[0]}: {error.strerror}", file=sys.stderr)
        return _NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_EXECUTABLE


if __name__ == "__main__":
    sys.exit(main())
