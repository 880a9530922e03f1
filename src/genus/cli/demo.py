"""demo: genus on the documentation of the Python that runs it."""

from __future__ import annotations

import click

from genus.cli._output import console, json_option, print_json, working


@click.command()
@json_option
def demo(as_json: bool) -> None:
    """Try genus on Python's own documentation; no data needed.

    Selects and trains a model that predicts which module of Python's standard library a docstring belongs to,
    measures it on held-out docstrings, answers questions with reasons, answers at any level of a tree of classes, and
    learns and unlearns a class. Takes about 15 seconds. Nothing is downloaded.
    """
    from genus.demo import Demo

    with working("training on the documentation of the standard library"):
        result = Demo.run()
    if as_json:
        print_json(result.to_dict())
    else:
        console().print(result)
