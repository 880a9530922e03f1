"""demo: genus on the documentation of the Python that runs it."""

from __future__ import annotations

import click

from genus.cli._output import console, json_option, print_json, working


@click.command()
@json_option
def demo(as_json: bool) -> None:
    """See genus at work, without any data of your own.

    Learns which module of Python's standard library a documentation string belongs to, measures that on
    strings that were held out, and answers questions, with reasons. Nothing is downloaded.
    """
    from genus.demo import Demo

    with working("reading the documentation of the standard library"):
        result = Demo.run()
    if as_json:
        print_json(result.to_dict())
    else:
        console().print(result)
