"""Views of this chapter: text, HTML and widget say the same, and nothing in them is markup."""

import re

import pytest

from helpers import show_bytecode, show_code, show_rosetta, watch_stack
from helpers.capture.cpython.bytecode import bytecode, code_tree
from helpers.capture.cpython.stack_run import stack_run
from helpers.model.stack import StackRun, StackStep
from helpers.model.timeline import Timeline
from helpers.view import bytecode as bytecode_view
from helpers.view import ink, step_table
from helpers.view import stack as stack_view
from helpers.view.widgets import code as code_view
from helpers.view.widgets import stage

HOSTILE = "<img src=x onerror=alert(1)></script>"


def evil(x="<img src=x onerror=alert(1)></script>"):
    for _ in x:
        return [x, "<b>", "<img src=x>"]


def cells(markup):
    return [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", markup)]


@pytest.mark.parametrize("make", [show_bytecode, show_code, watch_stack])
def test_text_of_objects_is_no_markup(make):
    data, _ = make(evil)._repr_mimebundle_()
    assert "<img src=x" not in data["text/html"] and "<b>" not in data["text/html"].replace(
        "<b>▶", ""
    )
    assert "&lt;img" in data["text/html"]


def test_inner_code_lists_the_fields_that_differ_from_the_first():
    def outer(n):
        return lambda: n

    tree = code_tree(outer)
    first, inner = code_view.text(tree).split("\n\nCode object ")[1:]
    assert "what it is" in first and "what it is" not in inner
    listed = {line.split()[0] for line in inner.splitlines() if line.startswith("co_")}
    fields = {row.name: (row.value, row.used) for row in tree.fields.rows}
    other = {row.name: (row.value, row.used) for row in tree.nested[0].fields.rows}
    assert listed == {name for name in other if other[name] != fields[name]} > {"co_name"}
    assert "The other fields read as in" in inner


def test_stack_table_says_in_html_what_it_says_in_text():
    ran = stack_run(evil, "ab")
    headings, rows = stack_view.table(ran)
    words = stack_view.text(ran)
    shown = cells(stack_view.html(ran))
    assert len(shown) == len(rows) * len(headings)
    for row in rows:
        assert all(word in words for cell in row for word in cell.split())


def test_columns_that_nobody_needs_are_left_out():
    headings, _ = stack_view.table(stack_run(lambda: 1))
    assert headings == ["line", "instruction", "value stack, bottom to top", "locals",
                        "what came of it"]  # fmt: skip


def test_stack_widget_steps_through_every_row():
    ran = stack_run(evil, "ab")
    assert stage.script(ran)["total"] == len(ran.steps)
    assert stage.script(ran)["panels"] == []  # instructions, stack and locals have their own parts


def test_empty_run_says_so():
    model = StackRun("t", "", (), "It raised X.")
    assert "No steps" in stack_view.text(model) and "No steps" in stack_view.html(model)


def test_long_html_says_what_is_left_out():
    steps = (StackStep("s", 0, ()),) * (step_table.FOLDED_AFTER + 2)
    markup = stack_view.html(StackRun("t", "", steps))
    assert f"Rows {step_table.FOLDED_AFTER + 1} to {len(steps)} are left out" in markup


def test_arrows_stand_in_both_forms():
    model = bytecode(evil)
    assert "▶" in bytecode_view.text(model)
    assert 'alt="jumps: row ' in bytecode_view.html(model)
    assert bytecode_view.table(bytecode(lambda: 1))[0][0] == "line"


def test_code_widget_has_every_code_object_and_plain_state():
    tree = code_tree(evil)
    state = code_view.widget(tree).codes
    assert [code["name"] for code in state] == [t.name for _, t in tree.walk()]
    units = state[0]["units"]
    assert [unit[0] for unit in units] == [row.offset for row in tree.bytecode.rows]
    assert "<img" not in state[0]["fields"]


def test_rosetta_is_the_same_twice():
    assert repr(show_rosetta("add")) == repr(show_rosetta("add"))
    assert "Python 3.8" in repr(show_rosetta("add"))


def test_what_stands_between_two_values_is_explained_where_it_stands():
    shown = stack_view.text(stack_run(lambda x: x + 1, 2))
    assert "2  |  1" in shown and step_table.LEGEND in shown
    assert step_table.LEGEND not in stack_view.text(stack_run(lambda x: x, 2))


def test_what_a_row_repeats_is_pale_and_the_page_says_so():
    markup = step_table.html(
        Timeline("t", "x = 1", ()), ["a", "b"], [["1", ""], ["1", ""], ["2", "3"], ["4", "3"]]
    )
    pale = [cell for cell in markup.split("<td")[1:] if f"color:{ink.PALE}" in cell[:400]]
    told = [cell.partition(">")[2][0] for cell in pale]
    assert told == ["1", "3"] and step_table.SAME in markup
    assert step_table.SAME not in step_table.html(Timeline("t", "x", ()), ["a"], [["1"], ["2"]])


def test_arrows_beside_instructions_are_explained_where_there_are_any():
    for form in (bytecode_view.text, bytecode_view.html):
        assert bytecode_view.ARROWS in form(bytecode(evil))
        assert bytecode_view.ARROWS not in form(bytecode(cells.__code__))


def test_a_python_that_is_told_twice_has_one_column():
    model = show_rosetta("current").model
    *headings, here = [column.heading for column in model.columns]
    shown, rows = bytecode_view.table(model)
    twin = here.replace("here:", "Python")
    assert twin not in headings or f"{twin} ({here} is the same)" in shown
    assert len(shown) == len(headings) + (twin not in headings)
    assert {len(row) for row in rows} == {len(shown)}
