"""A form alone in a narrow page, without JupyterLab: its words stay words, nothing is cut off."""

import json

import pytest

from helpers.study.chapter_2.signature_sandbox import SANDBOX
from helpers.view.widgets import sandbox

FACTS = """() => [...document.querySelectorAll('label')].map(label => {
  const words = document.createRange();
  words.selectNodeContents(label.firstChild);
  const box = label.getBoundingClientRect();
  return {words: label.firstChild.textContent, lines: words.getClientRects().length,
          right: Math.max(box.right, label.lastChild.getBoundingClientRect?.().right ?? 0)};
})"""


def document() -> str:
    """Return a page with a sandbox, driven by a model as Jupyter would."""
    made = sandbox.widget(SANDBOX, lambda picked: "call", lambda picked, guess: {})
    kept = json.dumps(
        {
            name: getattr(made, name)
            for name in made.trait_names(sync=True)
            if name[0] != "_" and name not in ("layout", "tabbable", "tooltip")
        }
    )
    play = str(made._esm).replace("export default", "const widget =")
    return f"""<!doctype html><style>{made._css}</style><body style="margin:0"><main></main>
<script type="module">{play}
const kept = {kept};
const model = {{get: name => kept[name], set: (name, value) => (kept[name] = value), on: () => {{}},
  off: () => {{}}, save_changes: () => {{}}, send: () => {{}}}};
widget.render({{model, el: document.querySelector("main")}});
</script>"""


@pytest.mark.parametrize("width", [240, 320, 900])
def test_a_choice_beside_its_word_fits_a_narrow_page(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.set_content(document())
    page.locator("label").first.wait_for()
    labels = page.evaluate(FACTS)
    assert len(labels) > len(SANDBOX.controls)
    assert [label for label in labels if label["lines"] > 1 or label["right"] > width] == []
