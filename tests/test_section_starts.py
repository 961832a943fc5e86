"""Each section starts with the notebook's first cell alone; `course.py test --all`: all of them."""

import os

import nbformat
import pytest
from nbformat import v4

from tests.section_starts import NOTEBOOKS, missed, unbound

WHOLE = os.environ.get("COURSE_SAMPLES") == "whole"


def code(source, *printed):
    outputs = [v4.new_output("stream", text=text) for text in printed]
    return v4.new_code_cell(source, outputs=outputs)


@pytest.mark.parametrize("path", NOTEBOOKS if WHOLE else NOTEBOOKS[:1], ids=lambda path: path.stem)
def test_each_section_starts_alone(path):
    assert list(missed(path)) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_each_section_binds_its_names(path):
    assert list(unbound(path)) == []


def test_what_a_section_misses_is_told(tmp_path):
    cells = [
        code("n = 1"),
        code("other = n"),
        v4.new_markdown_cell("## 1 · Stands alone"),
        code("print(n)", "1\n"),
        code("n = 2"),
        v4.new_markdown_cell("## 2 · Counts what came before"),
        code("print(n)", "2\n"),
        v4.new_markdown_cell("### A part of it"),
        code("print(n, object())\ncount = n", "1 <object object at 0x7f0123456789>\n"),
        code("print(count, end='')", "1\none more\n"),
        v4.new_markdown_cell("## 3 · Needs names of others"),
        code("print(count + other)", "2\n"),
        v4.new_markdown_cell("## 4 · Your turn\n\n### Exercise 1 · Needs nothing"),
        code("tried = ..."),
        v4.new_markdown_cell("### Exercise 2 · Needs the other"),
        code("tried"),
    ]
    nbformat.write(v4.new_notebook(cells=cells), tmp_path / "book.ipynb")
    assert list(unbound(tmp_path / "book.ipynb")) == [
        ("3 · Needs names of others", "Undefined name `count`"),
        ("3 · Needs names of others", "Undefined name `other`"),
        ("Exercise 2 · Needs the other", "Undefined name `tried`"),
    ]
    assert list(missed(tmp_path / "book.ipynb")) == [
        ("2 · Counts what came before", 6, "stored: 2 · now: 1"),
        ("2 · Counts what came before", 9, "stored: one more · now: nothing"),
        ("3 · Needs names of others", 11, "NameError: name 'count' is not defined"),
        ("Exercise 2 · Needs the other", 15, "NameError: name 'tried' is not defined"),
    ]
