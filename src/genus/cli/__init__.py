"""The command line: arguments in, library calls, tables or JSON out.

Exit codes: 0 success; 1 runtime failure; 2 invalid input or usage; 130 stopped by Ctrl-C.
Every error is one line on standard error. `--debug`, or GENUS_DEBUG=1, shows the traceback instead.

Only click is imported here and at the top of the command modules, and files named by arguments are checked before a
command runs (`_checks.py`): `genus --help` and wrong file names are answered at once, before scikit-learn is imported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from genus import __version__
from genus.errors import GenusError

# In the order of the help page.
_COMMANDS = {
    "train": "train", "predict": "predict", "evaluate": "evaluate", "tune": "tune", "explain": "explain",
    "similar": "similar", "inspect": "inspect", "mark": "mark",
    "learn": "learn", "forget": "learn", "data": "data", "reproduce": "reproduce", "demo": "demo",
}  # fmt: skip


class _Commands(click.Group):
    """The commands, each imported from its module when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        found: click.Command = getattr(import_module(f"genus.cli.{_COMMANDS[cmd_name]}"), cmd_name)
        return found

    def invoke(self, ctx: click.Context) -> None:
        # Here, and not in main: click would handle these two in its own way.
        try:
            super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        except KeyboardInterrupt:
            if _debugging():
                raise
            raise click.exceptions.Exit(_fail("stopped", 130)) from None


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Each command has its own help, with examples: genus train --help",
)
@click.version_option(__version__, prog_name="genus", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def cli() -> None:
    """Classify text with generative models, and see why.

    \b
    genus demo                                          see what it does
    genus train mail.csv --out mail.genus               train a model
    genus predict mail.genus --message "win a prize"    classify new texts
    """


def main(args: Sequence[str] | None = None) -> int:
    """Run a command; the exit code."""
    given = list(sys.argv[1:] if args is None else args)
    if sys.stdout is None:
        return _fail("standard output is closed: open it, or send it to /dev/null", 1)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # no output fails for a character that a terminal does not have
            stream.reconfigure(errors="backslashreplace")
    if "--debug" in given:
        os.environ["GENUS_DEBUG"] = "1"
    try:
        code = cli.main(given or ["--help"], prog_name="genus", standalone_mode=False)
    except Exception as error:
        if _debugging():
            raise
        return _report(error)
    return code if isinstance(code, int) else 0


def _report(error: Exception) -> int:
    match error:
        case click.UsageError():
            where = error.ctx.command_path if error.ctx else "genus"
            return _fail(f"{error.format_message().rstrip('.')}; see {where} --help", error.exit_code)
        case click.ClickException():
            return _fail(error.format_message(), error.exit_code)
        case GenusError() | ValueError():  # the library refuses what it was given
            return _fail(str(error), 2)
        case OSError():
            name = f"{error.filename}: " if error.filename else ""
            return _fail(f"{name}{(error.strerror or str(error)).lower()}", 1)
        case MemoryError():
            return _fail("out of memory: try fewer rows, a higher --min-df, or --hash", 1)
    return _fail(f"unexpected {type(error).__name__}: {error} (run genus --debug ... for the traceback)", 1)


def _fail(message: str, code: int) -> int:
    from genus.cli._output import clean

    if sys.stderr is None:
        return code  # there is nowhere to say it
    if sys.stderr.isatty() and code == 130:
        click.echo(err=True)  # after the terminal's own ^C
    click.echo(f"genus: {clean(message).rstrip('.')}", err=True)
    return code


def _debugging() -> bool:
    return os.environ.get("GENUS_DEBUG", "") not in ("", "0")
