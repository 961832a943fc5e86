"""A prediction without JupyterLab: where no kernel keeps what was decided, the form says so."""

import json

import pytest
from playwright.sync_api import expect

from helpers.model.choice import Choice
from helpers.view.widgets import choice

LATE = "after a restart, run this cell again and answer there"


def document(keeps: bool) -> str:
    """Return a page with a question, driven by a model as Jupyter would."""
    made = choice.widget(Choice("q?", ("a", "b"), "a", "so"))
    names = [name for name in made.trait_names(sync=True) if name[0] != "_"]
    kept = {
        name: getattr(made, name) for name in names if name not in ("layout", "tabbable", "tooltip")
    }
    play = str(made._esm).replace("export default", "const widget =")
    return f"""<!doctype html><style>{made._css}</style><body><main></main>
<script type="module">{play}
const kept = {json.dumps({**kept, "keeps": keeps})}, heard = {{}};
window.tell = () => heard["change:kept"]();
const model = {{get: name => kept[name], on: (words, told) => {{ heard[words] = told; }},
  set: changes => Object.assign(kept, changes), off: () => {{}},
  save_changes: () => {{ throw new Error("no kernel"); }}}};
widget.render({{model, el: document.querySelector("main")}});
</script>"""


@pytest.fixture
def decided(page):
    """Return what shows a page in which a question has just been answered."""

    def shown(keeps: bool):
        page.clock.install()
        page.set_content(document(keeps))
        page.get_by_label("a", exact=True).check()
        page.get_by_role("button", name="Check").click()
        expect(page.get_by_role("status")).to_contain_text("Right: it ran and gave a. so")
        expect(page.get_by_role("status")).not_to_contain_text(LATE)
        page.clock.fast_forward(9000)
        return page

    return shown


def test_a_kernel_that_keeps_nothing_is_told_and_one_that_does_it_late_too(decided):
    page = decided(keeps=True)
    expect(page.get_by_role("status")).to_contain_text(LATE)
    page.evaluate("window.tell()")
    expect(page.get_by_role("status")).not_to_contain_text(LATE)
    expect(page.get_by_role("status")).to_contain_text("Right:")


def test_a_page_without_a_kernel_waits_for_none(decided):
    expect(decided(keeps=False).get_by_role("status")).not_to_contain_text(LATE)
