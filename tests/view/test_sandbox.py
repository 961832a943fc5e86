"""A sandbox's text and HTML hold the same facts; the widget asks the kernel for the truth."""

import types

import ipykernel.comm.comm

from helpers.model.question_records import Control, Sandbox
from helpers.view import widgets as base
from helpers.view.widgets.forms import sandbox

NASTY = "<script>alert(1)</script>"
MODEL = Sandbox(
    "title",
    "note",
    (Control("kind", ("one", "two")), Control("size", ("1", NASTY), "kind", ("two",))),
    ("hit", "trace"),
    "s.run('hit')",
)


def test_text_and_html_hold_every_choice():
    for shown in (sandbox.text(MODEL), sandbox.html(MODEL)):
        known = "title", "note", "kind", "one; two", "every run", "kind: two", "s.run"
        for words in (*known, *MODEL.verdicts):
            assert words in shown.replace("&#39;", "'")


def test_the_widget_shows_the_code_of_what_is_picked_and_hands_the_guess_on():
    heard = []

    def run(picked, guess):
        heard.append((picked, guess))
        return {"says": "so", "right": True, "rows": ""}

    made = sandbox.widget(MODEL, show=lambda picked: "+".join(picked.values()), run=run)
    assert made.call == "one+1"
    made.picked = {"kind": "two", "size": "1"}
    assert made.call == "two+1"
    made._handle_custom_msg({"guess": "hit"}, [])
    assert heard == [({"kind": "two", "size": "1"}, "hit")] and made.answer["says"] == "so"
    assert repr(made) == "SandboxWidget('title', 2 choices)"


def test_what_a_page_sends_waits_its_turn_in_the_main_thread():
    comm = types.SimpleNamespace()
    base.wait_for_cell(comm)
    base.wait_for_cell(None)  # without a kernel
    assert comm._reply_subshell_for({"method": "custom"}, "a subshell") is None
    assert hasattr(ipykernel.comm.comm.BaseComm, "_reply_subshell_for")  # whom the kernel asks
