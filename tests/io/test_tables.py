"""Reading texts and labels: every format gives the same table, every fault its own one-line answer."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from genus.errors import DataError
from genus.io.tables import iter_table, read_table

TEXTS, LABELS = ["win cash now", "see you, at noon", "größe 日本"], ["spam", "ham", "ham"]


@pytest.fixture
def put(tmp_path):
    """Write a file of the given name and content, and return its path."""

    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def as_csv(sep: str = ",", head: tuple[str, str] | None = ("label", "text")) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=sep)
    writer.writerows(([head] if head else []) + list(zip(LABELS, TEXTS, strict=True)))
    return out.getvalue()


def as_jsonl(**extra: Any) -> str:
    rows = ({"text": t, "label": y, **extra} for t, y in zip(TEXTS, LABELS, strict=True))
    return "".join(json.dumps(row) + "\n" for row in rows)


def as_fasttext() -> str:
    return "".join(f"__label__{y} {t}\n" for t, y in zip(TEXTS, LABELS, strict=True))


# ---------------------------------------------------------------- formats


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", as_csv()),
        ("a.CSV", as_csv()),
        ("semicolons.csv", as_csv(";", ("label", "text")).replace(", ", ". ")),
        ("a.tsv", as_csv("\t")),
        ("a.tab", as_csv("\t")),
        ("a.jsonl", as_jsonl()),
        ("a.ndjson", "\n" + as_jsonl() + "\n \n"),
        ("a.txt", as_fasttext()),
        ("a.ft", as_fasttext()),
        ("a.csv.gz", gzip.compress(as_csv().encode())),
        ("a.jsonl.xz", lzma.compress(as_jsonl().encode())),
        ("a.tsv.bz2", bz2.compress(as_csv("\t").encode())),
        ("bom8.csv", b"\xef\xbb\xbf" + as_csv().encode()),
        ("bom8.jsonl", b"\xef\xbb\xbf" + as_jsonl().encode()),
        ("bom16.csv", as_csv().encode("utf-16")),
        ("bom32.jsonl", as_jsonl().encode("utf-32")),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 20 else "",
)
def test_every_format_gives_the_same_table(name, content, put):
    table = read_table(put(name, content))
    assert [text.replace(". ", ", ") for text in table.texts] == TEXTS
    assert table.labels == LABELS
    assert len(table) == len(table.rows) == 3


def test_rows_count_as_a_spreadsheet_counts_them(put):
    assert read_table(put("a.csv", as_csv())).rows == [2, 3, 4]
    assert read_table(put("a.jsonl", "\n" + as_jsonl())).rows == [2, 3, 4]


def test_parquet_is_read(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"id": [7, 8, 9], "category": LABELS, "body": TEXTS}), tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet")
    assert (table.texts, table.labels, table.ids, table.rows) == (TEXTS, LABELS, ["7", "8", "9"], [1, 2, 3])
    with pytest.raises(
        DataError, match=r"a.parquet: has no column 'x' for --label; its columns are id, category, body"
    ):
        read_table(tmp_path / "a.parquet", label="x")


def test_parquet_without_pyarrow_names_the_extra(put, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"a.parquet: reading Parquet needs pyarrow: pip install 'genus\[frames\]'"):
        read_table(put("a.parquet", b"PAR1"))


def test_broken_parquet_is_told(put):
    pytest.importorskip("pyarrow")
    with pytest.raises(DataError, match=r"a.parquet: is not a whole Parquet file"):
        read_table(put("a.parquet", b"PAR1 nonsense"))


def test_a_folder_of_classes_is_read_in_order(put, tmp_path):
    for name, text in {"spam/2.txt": "b", "spam/1.txt": "\ufeffa", "ham/1.txt": "ü", ".git/x": "no"}.items():
        put(name, text)
    table = read_table(tmp_path)
    assert (table.texts, table.labels) == (["ü", "a", "b"], ["ham", "spam", "spam"])
    assert table.ids == ["ham/1.txt", "spam/1.txt", "spam/2.txt"]


def test_a_flat_folder_is_texts_without_labels(put, tmp_path):
    put("b.txt", "two")
    put("a.txt", "one")
    table = read_table(tmp_path, need_labels=False)
    assert (table.texts, table.labels) == (["one", "two"], None)


def test_plain_lines_are_texts_without_labels(put):
    table = read_table(put("a.txt", "one\r\n\nthree\u2028still three"), need_labels=False)
    assert (table.texts, table.labels) == (["one", "", "three\u2028still three"], None)


def test_fasttext_lines_keep_their_text_and_need_not_have_any(put):
    table = read_table(put("a.ft", "__label__a  two  spaces \n\n__label__b\n"))
    assert (table.texts, table.labels, table.rows) == (["two  spaces", ""], ["a", "b"], [1, 3])


@pytest.mark.parametrize(("kind", "content"), [(None, as_jsonl()), ("csv", as_csv()), ("fasttext", as_fasttext())])
def test_standard_input_is_json_lines_unless_said(kind, content, monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(content.encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    table = read_table("-", format=kind)
    assert (table.texts, table.labels, table.name) == (TEXTS, LABELS, "standard input")
    assert not stdin.closed


def test_long_fields_are_read(put):
    long = "word " * 100_000
    assert read_table(put("a.csv", f"label,text\na,{long}\n")).texts == [long]


def test_numbers_and_truth_values_serve_as_labels(put):
    rows = [{"text": "a", "label": value} for value in (3, 0, True, 1.5, ["x"])]
    table = read_table(put("a.jsonl", "\n".join(map(json.dumps, rows))))
    assert table.labels == ["3", "0", "true", "1.5", "x"]


fields = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=10)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(fields, fields.filter(bool)), min_size=1, max_size=6), sep=st.sampled_from(",;\t"))
def test_csv_round_trip(rows, sep, tmp_path):
    with open(tmp_path / "a.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=sep, quoting=csv.QUOTE_ALL).writerows([("text", "label"), *rows])
    table = read_table(tmp_path / "a.csv", sep=sep)
    assert list(zip(table.texts, table.labels or [], strict=True)) == rows


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(st.text(), st.text(min_size=1)), min_size=1, max_size=6),
    ascii_only=st.booleans(),
    compress=st.booleans(),
)
def test_json_lines_round_trip(rows, ascii_only, compress, tmp_path):
    lines = [json.dumps({"label": y, "text": t}, ensure_ascii=ascii_only) for t, y in rows]
    data = "\n".join(lines).encode()
    (tmp_path / "a.jsonl").write_bytes(data)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(data))
    table = read_table(tmp_path / ("a.jsonl.gz" if compress else "a.jsonl"))
    assert list(zip(table.texts, table.labels or [], strict=True)) == rows


# ---------------------------------------------------------------- columns


@pytest.mark.parametrize(
    ("content", "options", "texts", "labels"),
    [
        ("Category,Body,id\nx,one,1\ny,two,2\n", {}, ["one", "two"], ["x", "y"]),
        ("a,b,c\nx,one,1\ny,two,2\n", {"text": "b", "label": "a"}, ["one", "two"], ["x", "y"]),
        ("text,title,class\none,t,x\n", {}, ["one"], ["x"]),
        ("text,title,class\none,t,x\n", {"text": "title"}, ["t"], ["x"]),
        ("kind,words\nx,words and words and words\nx,more\nz,and more of it all\n", {},
         ["words and words and words", "more", "and more of it all"], ["x", "x", "z"]),
        ("x,one two\ny,four five\nx,six\n", {}, ["one two", "four five", "six"], ["x", "y", "x"]),
        ("x,hi\ny,four five six\nx,and seven\n", {}, ["hi", "four five six", "and seven"], ["x", "y", "x"]),
        ("y,one two\nn,four five\ny,six\n", {}, ["one two", "four five", "six"], ["y", "n", "y"]),
        ("x,1,one\ny,2,two\n", {"text": "3", "label": "1"}, ["one", "two"], ["x", "y"]),
        ("label,n,text\nx,1,one\n", {"text": "3", "label": "1"}, ["one"], ["x"]),
        ("one two three,x\nfour five six,y\n", {"text": "1"}, ["one two three", "four five six"], ["x", "y"]),
        ('text,label\n"a ""quoted"", text\nin two lines",x\n', {}, ['a "quoted", text\nin two lines'], ["x"]),
    ],
)  # fmt: skip
def test_columns_and_headers_are_found(content, options, texts, labels, put):
    table = read_table(put("a.csv", content), **options)
    assert (table.texts, table.labels) == (texts, labels)


def test_labels_are_optional_when_not_needed(put):
    assert read_table(put("a.csv", "text,n\none,1\n"), need_labels=False).labels is None
    assert read_table(put("a.csv", "text\none\n"), need_labels=False).texts == ["one"]
    assert read_table(put("a.csv", "text,label\na,x\nb,\n"), need_labels=False).labels == ["x", ""]


# ---------------------------------------------------------------- faults

FAULTS: list[tuple[str, str | bytes, dict[str, Any], str]] = [
    ("a.csv", "", {}, "a.csv: is empty"),
    ("a.jsonl", "", {}, "a.jsonl: is empty"),
    ("a.txt", "", {}, "a.txt: is empty"),
    ("a.csv.gz", gzip.compress(b""), {}, "a.csv.gz: is empty"),
    ("a.csv", b"\xff\xfe", {}, "a.csv: is empty"),
    ("a.csv", "\n\n", {}, "a.csv: has no rows"),
    ("a.jsonl", "\n \n", {}, "a.jsonl: has no rows"),
    ("a.csv", "text,label\n", {}, "a.csv: has a header but no rows"),
    (
        "a.csv",
        as_csv().encode("latin-1", "replace"),
        {},
        "a.csv: line 4 is not utf-8: byte 7 is 0xf6; say what it is with --encoding, perhaps --encoding latin-1",
    ),
    (
        "a.csv",
        b"text,label\n\x93hi\x94,x\n",
        {},
        "line 2 is not utf-8: byte 1 is 0x93; say what it is with --encoding, perhaps --encoding cp1252",
    ),
    ("a.csv", as_csv().encode("utf-16-le"), {}, "perhaps --encoding utf-16-le"),
    ("a.jsonl", "{}".encode("utf-16-be"), {}, "perhaps --encoding utf-16-be"),
    ("a.csv", as_csv().encode("utf-16")[:-1], {}, "is not utf-16 (truncated data)"),
    ("a.csv", as_csv(), {"encoding": "klingon"}, "there is no text encoding 'klingon'"),
    ("a.csv", as_csv(), {"encoding": "hex"}, "there is no text encoding 'hex'"),
    (
        "a.csv",
        "a,b\nx" + "y" * 30 + "\0,z\n",
        {},
        "a.csv: line 2 holds zero bytes: this looks like a binary file",
    ),
    (
        "a.csv",
        "a,b,c\n1,2,3\n",
        {},
        "a.csv: which column holds the text? its columns are a, b, c; choose with --text",
    ),
    (
        "a.csv",
        "text,b,c\n1,2,3\n",
        {},
        "a.csv: which column holds the label? its columns are text, b, c; choose with --label",
    ),
    (
        "a.csv",
        "text,b\n1,2\n",
        {"label": "c"},
        "a.csv: has no column 'c' for --label; its columns are text, b",
    ),
    (
        "a.jsonl",
        as_jsonl(),
        {"text": "body"},
        "a.jsonl: has no column 'body' for --text; its columns are text, label",
    ),
    (
        "a.csv",
        "text,label\na,x\nb,\nc,\n",
        {},
        "a.csv: label missing in 2 of 3 rows (rows 3, 4): fill in, or leave them out with --skip-missing",
    ),
    (
        "a.csv",
        "text,label\n" + "a,\n" * 9 + "b,x\n",
        {},
        "label missing in 9 of 10 rows (rows 2, 3, 4, 5, 6, ...)",
    ),
    (
        "a.jsonl",
        '{"text": "a", "label": "x"}\n{"text": "b"}\n{"text": null, "label": "x"}',
        {},
        "label missing in 1 of 3 rows (row 2)",
    ),
    (
        "a.jsonl",
        '{"text": "a", "label": "x"}\n{"text": null, "label": "x"}',
        {},
        "text missing in 1 of 2 rows (row 2)",
    ),
    ("a.ft", "__label__x one\ntwo\n", {}, "label missing in 1 of 2 rows (row 2)"),
    ("a.csv", "text,label\na,\n", {"skip_missing": True}, "a.csv: has no whole rows"),
    (
        "a.jsonl",
        as_jsonl() + '{"text": \n',
        {},
        "a.jsonl: row 4 is not valid JSON (Expecting value, column 1",
    ),
    ("a.jsonl", "[" * 100_000, {}, "a.jsonl: row 1 is not valid JSON"),
    ("a.jsonl", '[{"text": "a"}]', {}, "a.jsonl: row 1 is not a JSON object: each line must be one"),
    ("a.csv", "text,label\na,x\n", {"label_separator": ""}, "labels cannot be separated by nothing"),
    ("a.csv", 'text,label\n"a,x\nb,y\n', {}, "a.csv: row 2: a double quote is opened and never closed"),
    ("a.csv", 'text,label\n"a"b,x\n', {}, "a.csv: row 2: text follows a closing double quote"),
    ("a.csv", "text,label\ra,x\r", {}, "a.csv: row 1: a bare carriage return outside of quotes"),
    (
        "a.csv",
        "text,label\na,x\na,b,x\n",
        {},
        "a.csv: row 3 has 3 fields, row 1 has 2: put fields that hold ','",
    ),
    ("a.csv", "text,label\na,x\nb\n", {}, "a.csv: row 3 has 1 fields, row 1 has 2"),
    ("a.csv", '"a\nb",c,d\n1,2,3\n', {}, "which column holds the text? its columns are a b, c, d"),
    ("a.csv", as_csv(), {"sep": "::"}, "columns cannot be separated by '::': --sep is one character"),
    ("a.csv", as_csv(), {"format": "xls"}, "there is no format 'xls': choose from csv, tsv, jsonl"),
    ("a.csv", as_csv(), {"format": "folder"}, "a.csv: is a file, not a folder of classes"),
    ("a.docx", "x", {}, "a.docx: its name does not tell its format: choose one with --format (csv, "),
    ("a.txt", "one\ntwo\n", {}, "a.txt: plain text has no labels: begin each line with __label__NAME"),
    ("a.csv.gz", gzip.compress(as_csv().encode())[:-9], {}, "a.csv.gz: is damaged after line"),
    ("a.csv.gz", b"text,label\n", {}, "a.csv.gz: is damaged after line 0: not a gzipped file"),
    ("a.jsonl.xz", b"nonsense", {}, "a.jsonl.xz: is damaged after line 0"),
    ("a.jsonl.bz2", b"nonsense", {}, "a.jsonl.bz2: invalid data stream"),
]


@pytest.mark.parametrize(("name", "content", "options", "gist"), FAULTS, ids=[gist for *_, gist in FAULTS])
def test_a_fault_is_answered_in_one_line(name, content, options, gist, put):
    with pytest.raises(DataError) as caught:
        read_table(put(name, content), **options)
    assert gist in str(caught.value)
    assert "\n" not in str(caught.value)


BYTES = st.lists(
    st.one_of(
        st.binary(max_size=8),
        st.sampled_from(
            [
                b'{"text": "a", "label": "x"}\n',
                b"text,label\n",
                b"a,x\n",
                b'"',
                b"__label__x a\n",
                b"\xff\xfe",
            ]
        ),
    ),
    max_size=8,
).map(b"".join)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=BYTES, name=st.sampled_from(["a.csv", "a.tsv", "a.jsonl", "a.ft", "a.txt", "a.jsonl.gz", "a.csv.xz"]))
def test_any_bytes_are_read_or_answered_in_one_line(data, name, tmp_path):
    (tmp_path / name).write_bytes(data)
    try:
        table = read_table(tmp_path / name)
    except DataError as error:
        one_line = "\n" not in str(error)
        assert one_line
    else:
        assert len(table.texts) == len(table.labels or []) == len(table.rows) > 0


def test_missing_files_and_folders_are_told(tmp_path, put):
    cases: list[tuple[Path, dict[str, Any], str]] = [
        (tmp_path / "none.csv", {}, "none.csv: no such file or folder"),
        (tmp_path, {"format": "csv"}, "is a folder, not a csv file"),
        (tmp_path, {}, "has no folders in it: expected one per class"),
        (tmp_path, {"need_labels": False}, "has no files in it"),
        (Path("-"), {"format": "parquet"}, "standard input cannot be of format parquet"),
    ]
    for path, options, gist in cases:
        with pytest.raises(DataError, match=gist):
            read_table(path, **options)


@pytest.mark.parametrize(
    ("content", "gist"),
    [(b"caf\xe9", r"spam/1.txt is not utf-8: byte 4 is 0xe9"), (b"a\0b", r"spam/1.txt holds zero bytes")],
)
def test_a_bad_file_in_a_folder_is_named(content, gist, put, tmp_path):
    put("spam/1.txt", content)
    with pytest.raises(DataError, match=gist):
        read_table(tmp_path)


def test_rows_without_a_label_are_skipped_on_request(put):
    table = read_table(put("a.csv", "text,label\na,x\nb,\nc,y\n"), skip_missing=True)
    assert (table.texts, table.labels, table.rows) == (["a", "c"], ["x", "y"], [2, 4])


def test_another_encoding_is_read_when_said(put):
    path = put("a.csv", "text,label\ncafé,x\n".encode("latin-1"))
    assert read_table(path, encoding="latin-1").texts == ["café"]
    path = put("a.csv", "text,label\ncafé,x\n".encode("utf-16-le"))
    assert read_table(path, encoding="utf-16-le").texts == ["café"]


# ---------------------------------------------------------------- streams


def test_chunks_join_to_the_whole_table(put):
    path = put("a.csv", "text,label\n" + "".join(f"t{i},l{i % 3}\n" for i in range(25)))
    chunks = list(iter_table(path, chunk_size=10))
    assert [len(chunk) for chunk in chunks] == [10, 10, 5]
    table = read_table(path)
    assert [text for chunk in chunks for text in chunk.texts] == table.texts
    assert [label for chunk in chunks for label in chunk.labels or []] == table.labels
    assert [row for chunk in chunks for row in chunk.rows] == table.rows


def test_a_stream_tells_missing_labels_of_its_chunk(put):
    path = put("a.csv", "text,label\na,x\nb,y\nc,\n")
    chunks = iter_table(path, chunk_size=2)
    assert next(chunks).labels == ["x", "y"]
    with pytest.raises(DataError, match=r"label missing in 1 of 1 rows \(row 4\)"):
        next(chunks)


@pytest.mark.parametrize(
    ("name", "head", "row"),
    [
        ("a.jsonl", "", json.dumps({"text": "word " * 200, "label": "x"})),
        ("a.csv", "text,label\n", "word " * 200 + ",x"),
        ("a.ft", "", "__label__x " + "word " * 200),
    ],
)
def test_a_stream_takes_constant_memory(name, head, row, put):
    path = put(name, head + (row + "\n") * 5_000)
    tracemalloc.start()
    try:
        n_rows = sum(len(chunk) for chunk in iter_table(path, chunk_size=500))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert n_rows == 5_000
    assert peak < 2_500_000 < path.stat().st_size


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("a.jsonl", '{"text": "one", "labels": ["x", "y"]}\n{"text": "two", "labels": ["x"]}\n'
         '{"text": "three", "labels": []}\n', {}),
        ("a.csv", "text,labels\none,x; y\ntwo,x\nthree,\n", {"label_separator": ";"}),
        ("a.jsonl", '{"text": "one", "labels": "x|y"}\n{"text": "two", "labels": ["x"]}\n'
         '{"text": "three", "labels": ""}\n', {"label_separator": "|"}),
    ],
)  # fmt: skip
def test_rows_may_have_several_labels_or_none(tmp_path, name, content, options):
    path = tmp_path / name
    path.write_text(content)
    table = read_table(path, **options)
    assert table.labels is None
    assert table.sets_of_labels() == [{"x", "y"}, {"x"}, set()]
    with pytest.raises(DataError, match=r"has 2 labels: this takes one label per row"):
        table.one_label_each()


def test_lines_of_fasttext_may_have_several_labels(tmp_path):
    path = tmp_path / "a.ft"
    path.write_text("__label__x __label__y one two\n__label__x three\n")
    assert read_table(path).sets_of_labels() == [{"x", "y"}, {"x"}]


def test_lists_of_one_are_that_one(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "one", "labels": ["x"]}\n{"text": "two", "labels": ["y"]}\n')
    table = read_table(path)
    assert table.labels == table.one_label_each() == ["x", "y"]
    assert table.sets_of_labels() == [{"x"}, {"y"}]
