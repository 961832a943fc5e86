"""A sandbox without JupyterLab: an answer stands under its own choices, and counts once."""

import json

import pytest

from helpers.model.sandbox import Control, Sandbox
from helpers.view.widgets import sandbox

MODEL = Sandbox(
    "title",
    "note",
    (Control("kind", ("one", "two")), Control("size", ("1", "2"), "kind", ("two",))),
    ("hit", "trace"),
    "s.run('hit')",
)
OF_ONE = {
    "says": "you said hit.",
    "right": False,
    "rows": "<p>a row</p>",
    "of": MODEL.start(),
    "call": "f(one)",
    "press": "1",
}


def document(answer=(), picked=()) -> str:
    """Return a page with a sandbox, driven by a model as Jupyter would."""
    made = sandbox.widget(MODEL, lambda picked: f"f({picked['kind']})", lambda picked, guess: {})
    names = [name for name in made.trait_names(sync=True) if name[0] != "_"]
    kept = {
        name: getattr(made, name) for name in names if name not in ("layout", "tabbable", "tooltip")
    }
    kept = kept | {"answer": dict(answer), "picked": {**made.picked, **dict(picked)}}
    play = str(made._esm).replace("export default", "const widget =")
    return f"""<!doctype html><style>{made._css}</style><body><main></main>
<script type="module">{play}
const kept = {json.dumps(kept)}, heard = {{}};
window.sent = [];
window.answered = answer => {{ kept.answer = answer; heard["change:answer"](); }};
const model = {{get: name => kept[name], set: (name, value) => (kept[name] = value),
  on: (words, told) => {{ heard[words] = told; }}, off: () => {{}}, save_changes: () => {{}},
  send: content => window.sent.push(content)}};
widget.render({{model, el: document.querySelector("main")}});
</script>"""


def status(page) -> str:
    return page.get_by_role("status").inner_text()


@pytest.mark.parametrize("picked", [{}, {"size": "2"}])
def test_an_answer_is_the_status_of_its_choices(page, picked):
    page.set_content(document(OF_ONE, picked))
    assert status(page) == "✗ Not this time: you said hit."
    assert "The last run" not in page.locator("main").inner_text()


def test_an_answer_of_other_choices_says_of_which(page):
    page.set_content(document(OF_ONE))
    page.get_by_label("kind").select_option("two")
    assert status(page) == ""
    words = page.locator("main").inner_text()
    assert "The last run was of\n\nf(one)\n" in words
    assert words.index("The last run") < words.index("you said hit") < words.index("a row")
    page.get_by_label("kind").select_option("one")
    assert "you said hit" in status(page)


def test_a_page_that_is_opened_again_says_of_which(page):
    page.set_content(document(OF_ONE, {"kind": "two"}))
    assert status(page) == "" and "The last run was of" in page.locator("main").inner_text()


def test_an_answer_that_comes_late_says_of_which(page):
    page.set_content(document())
    page.get_by_label("hit").check()
    page.get_by_role("button").click()
    assert status(page) == "Running…"
    page.get_by_label("kind").select_option("two")
    page.evaluate("answer => window.answered(answer)", OF_ONE)
    assert status(page) == "" and "The last run was of" in page.locator("main").inner_text()


def test_what_is_pressed_again_before_its_answer_is_one_press(page):
    page.set_content(document())
    for guess in ("hit", "hit", "trace"):
        page.get_by_label(guess).check()
        page.get_by_role("button").click()
    page.evaluate("answer => window.answered(answer)", OF_ONE)
    page.get_by_label("trace").check()
    page.get_by_role("button").click()
    one, again, other, later = (sent["press"] for sent in page.evaluate("window.sent"))
    assert one == again and len({one, other, later}) == 3
