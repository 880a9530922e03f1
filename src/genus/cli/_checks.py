"""Files and folders that commands name, checked before anything large is imported.

A parameter that names a file or folder has one of the types below. `command` makes commands that run these checks once
all parameters are known, in the order of the help page, before the command itself: errors appear at once, not after a
second of importing scikit-learn. Checks read the first rows of data and the header of a model, never all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import click


class Checked(click.types.StringParamType):
    """A string parameter with a check, called with its value, all parameters (which say how to read data) and name."""

    def __init__(self, name: str, check: Callable[[str, dict[str, object], str], None]) -> None:
        self.name = name
        self.check = check


class _Command(click.Command):
    def invoke(self, ctx: click.Context) -> object:
        for param in self.params:
            value = ctx.params.get(param.name or "")
            if isinstance(param.type, Checked) and value is not None:
                ctx.invoke(param.type.check, value, ctx.params, max(param.opts, key=len))
        return super().invoke(ctx)


command = partial(click.command, cls=_Command)


def _model(path: str, given: dict[str, object], option: str) -> None:
    from genus.io.model_header import check_model_file

    check_model_file(path)


def _model_or_data(path: str, given: dict[str, object], option: str) -> None:
    """With --classes no model is needed: the first argument is the data."""
    if given.get("classes") is None:
        _model(path, given, option)
    else:
        _data(path, given, option, need_labels=False)


def _data(data: str, given: dict[str, object], option: str, *, need_labels: bool) -> None:
    from genus.cli._input import Reading, check

    check(data, Reading.from_options(given), need_labels=need_labels)


def _texts(data: str, given: dict[str, object], option: str) -> None:
    from genus.cli._input import Reading, check

    check(data, Reading.from_options(given).of_texts(), need_labels=False)


def _target(path: str, given: dict[str, object], option: str, *, streams: bool) -> None:
    """A file that cannot be written is an error before the work begins, not after it."""
    from genus.io.atomic import NotAFileError, check_replaceable, is_open_stream

    if streams and is_open_stream(path):
        return
    target = Path(path)
    if target.is_dir():
        raise click.BadParameter(f"{path} is a folder: give a file name", param_hint=option)
    try:
        check_replaceable(path)
    except NotAFileError as error:
        raise click.BadParameter(f"{path} {error}", param_hint=option) from error
    if not target.parent.is_dir():
        raise click.BadParameter(f"folder {target.parent} does not exist", param_hint=option)


def _folder(path: str, given: dict[str, object], option: str) -> None:
    if not Path(path).is_dir():
        raise click.BadParameter(f"folder {path} does not exist", param_hint=option)


def _tree(path: str, given: dict[str, object], option: str) -> None:
    from genus.cli._input import read_json

    if not Path(path).is_fifo():  # a pipe can be read only once
        read_json(path, option)


def _json(path: str, given: dict[str, object], option: str) -> None:
    from genus.cli._input import read_json

    read_json(path, option)


MODEL = Checked("model", _model)
MODEL_OR_DATA = Checked("model", _model_or_data)
DATA = Checked("data", partial(_data, need_labels=True))
UNLABELED_DATA = Checked("data", partial(_data, need_labels=False))  # labels are optional
TEXTS = Checked("texts", _texts)  # in addition to labeled data
TARGET = Checked("file", partial(_target, streams=False))  # a model
PAGE = Checked("file", partial(_target, streams=True))  # text, which may also go to - or /dev/fd/N
FOLDER = Checked("folder", _folder)
TREE = Checked("tree", _tree)
JSON = Checked("file", _json)
