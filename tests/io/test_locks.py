"""Two processes that change one model: no update is lost, and a killed one stops nobody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from genus import TextClassifier
from genus.cli import main
from genus.io.locks import LockedError, changing

CLI = [sys.executable, "-c", "import sys; from genus.cli import main; sys.exit(main(sys.argv[1:]))"]


def nobody(who: str) -> None:
    raise AssertionError(f"nobody has it: {who}")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "mail.csv").write_text("label,text\nspam,win cash\nham,see you at noon\nspam,cash prize\nham,lunch?\n")
    assert main(["train", str(tmp_path / "mail.csv"), "--model", "nb", "--out", str(tmp_path / "m.genus")]) == 0
    return tmp_path / "m.genus"


@pytest.fixture
def holder(model):
    """A process that holds the lock of the model."""
    script = textwrap.dedent("""
        import sys, time
        from genus.io.locks import changing
        with changing(sys.argv[1], 0, print):
            print("held", flush=True)
            time.sleep(600)
    """)
    process = subprocess.Popen([sys.executable, "-c", script, model], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.mark.slow
def test_updates_by_several_processes_are_all_kept(model, tmp_path):
    (tmp_path / "more.csv").write_text("label,text\nspam,more cash\n")
    command = [*CLI, "learn", str(model), str(tmp_path / "more.csv"), "--json"]
    learning = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(3)]
    assert [process.wait() for process in learning] == [0] * 3
    assert TextClassifier.load(model).model_.class_count_.sum() == 4 + 3
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("command", ["learn", "forget"])
def test_who_waits_too_long_is_told_for_whom(command, model, holder, capsys):
    before = model.read_bytes()
    assert main([command, str(model), str(model.with_name("mail.csv")), "--lock-timeout", "0.2"]) == 1
    waiting, refused = capsys.readouterr().err.splitlines()
    assert waiting == f"genus: {model} is being changed by process {holder.pid}: waiting"
    assert refused.startswith(f"genus: {model} is being changed by process {holder.pid}: try again")
    assert model.read_bytes() == before


def test_the_lock_of_a_killed_process_is_free(model, holder):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert model.with_name(".m.genus.lock").exists()
    with changing(model, 0, nobody):
        pass
    assert not model.with_name(".m.genus.lock").exists()


def test_who_waits_gets_the_lock_once_it_is_free(model, holder):
    told: list[str] = []

    def release(who: str) -> None:
        told.append(who)
        holder.terminate()

    with changing(model, 30, release):
        assert len(told) == 1


def test_a_link_and_its_target_have_one_lock(model, holder, tmp_path):
    (tmp_path / "link").symlink_to(model.name)
    with pytest.raises(LockedError, match=f"process {holder.pid}"), changing(tmp_path / "link", 0, print):
        pass


def test_two_never_hold_the_lock_at_once(tmp_path):
    """Each reads a number, waits, and writes the next one: with both inside at once, a number would be lost."""
    script = textwrap.dedent("""
        import sys, time
        from pathlib import Path
        from genus.io.locks import changing
        file = Path(sys.argv[1])
        for _ in range(50):
            with changing(file, 60, lambda who: None):
                n = int(file.read_text())
                time.sleep(0.0005)
                file.write_text(str(n + 1))
    """)
    path = tmp_path / "number"
    path.write_text("0")
    counting = [subprocess.Popen([sys.executable, "-c", script, path]) for _ in range(4)]
    assert [process.wait() for process in counting] == [0] * 4
    assert path.read_text() == "200"


def test_predicting_needs_no_lock(model, holder, capsys):
    begin = time.monotonic()
    assert main(["predict", str(model), "--message", "cash"]) == 0
    assert time.monotonic() - begin < 30
    assert "waiting" not in capsys.readouterr().err
    assert os.path.exists(model.with_name(".m.genus.lock"))
