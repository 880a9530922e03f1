"""Writing replaces regular files only, whole or not at all, and killed writers leave nothing for long."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from genus.cli import main
from genus.errors import ModelFileError
from genus.io.atomic import NotAFileError, write_text, written_whole
from genus.io.model_file import save
from genus.text import Vectorizer


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket is short
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(path.name)
    os.chdir(here)


def make_device(path: Path) -> None:
    try:
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3))  # what /dev/null is, elsewhere
    except PermissionError:
        pytest.skip("only root makes devices")


NODES = {
    "a pipe": make_pipe, "a socket": make_socket, "a device": make_device, "a folder": os.mkdir,
}  # fmt: skip


@pytest.fixture(params=NODES)
def node(request, tmp_path):
    """Something that is no regular file, and what it is."""
    path = tmp_path / "node"
    NODES[request.param](path)
    return path, request.param


@pytest.mark.parametrize("linked", [False, True])
def test_only_regular_files_are_replaced(node, linked):
    path, what = node
    kind = stat.S_IFMT(path.stat().st_mode)
    target = path
    if linked:
        target = path.with_name("link")
        target.symlink_to(path.name)
    with pytest.raises(NotAFileError, match=f"is {what}, which is not replaced"):
        write_text(target, "gone")
    with pytest.raises(ModelFileError, match=f"not saved: is {what}"):
        save(Vectorizer().fit(["some words"]), target)
    assert stat.S_IFMT(path.stat().st_mode) == kind
    assert not list(path.parent.glob(".*"))


@pytest.fixture(scope="module")
def mail(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mail")
    (folder / "mail.csv").write_text(
        "label,text\nspam,win cash now\nham,see you at noon\nspam,cash prize\nham,lunch?\n"
    )
    assert main(["train", str(folder / "mail.csv"), "--model", "nb", "--out", str(folder / "m.genus")]) == 0
    return folder


@pytest.mark.parametrize(
    "args",
    [
        ["train", "mail.csv", "--model", "nb", "--out"],
        ["tune", "mail.csv", "--time-budget", "1", "--out"],
        ["evaluate", "m.genus", "mail.csv", "--report"],
        ["explain", "m.genus", "cash", "--html"],
    ],
    ids=lambda args: args[0],
)
def test_commands_refuse_what_is_no_regular_file_before_they_work(args, mail, node, monkeypatch, capsys):
    path, what = node
    monkeypatch.chdir(mail)
    assert main([*args, str(path)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert f"{path} is {what}" in said
    assert not path.is_file()


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1"])
def test_a_page_goes_through_an_open_stream(name, mail):
    code = "import sys; from genus.cli import main; sys.exit(main(sys.argv[1:]))"
    args = ["explain", str(mail / "m.genus"), "cash", "--html", name]
    answer = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=True)
    assert "</html>" in answer.stdout


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1"])
def test_a_model_does_not(name, mail, capsys):
    assert main(["train", str(mail / "mail.csv"), "--model", "nb", "--out", name]) == 2
    assert "is an open stream" in capsys.readouterr().err


def test_a_file_that_standard_output_goes_to_is_written_on_not_replaced(tmp_path):
    code = (
        "import os; from genus.io.atomic import write_text; print('a'); write_text('/dev/stdout', 'b\\n'); print('c')"
    )
    with open(tmp_path / "out", "w") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "a\nb\nc\n"


def test_the_next_save_removes_what_a_killed_one_left(tmp_path):
    script = textwrap.dedent("""
        import os, signal, sys
        from genus.io.atomic import written_whole
        with written_whole(sys.argv[1]) as file:
            file.write(b"half")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    """)
    path = tmp_path / "model.genus"
    path.write_text("old")
    for _ in range(2):
        assert subprocess.run([sys.executable, "-c", script, path], check=False).returncode == -signal.SIGKILL
    assert path.read_text() == "old"
    assert len(list(tmp_path.glob(".model.genus.*.tmp"))) == 1  # the second one's: it removed the first one's
    write_text(path, "new")
    assert [file.name for file in tmp_path.iterdir()] == ["model.genus"]


def test_a_save_leaves_the_file_of_one_that_still_runs(tmp_path):
    path = tmp_path / "model.genus"
    with written_whole(path) as slow:
        slow.write(b"slow")
        write_text(path, "quick")
    assert path.read_text() == "slow"
    assert [file.name for file in tmp_path.iterdir()] == ["model.genus"]


def test_files_of_other_names_are_left_alone(tmp_path):
    others = [
        ".other.genus.0123456789ab.tmp",
        ".model.genus.tmp",
        "model.genus.0123456789ab.tmp",
        ".model.genus.zz.tmp",
    ]
    for name in others:
        (tmp_path / name).touch()
    write_text(tmp_path / "model.genus", "new")
    assert {file.name for file in tmp_path.iterdir()} == {"model.genus", *others}
