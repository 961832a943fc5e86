"""A form alone in a narrow page, without JupyterLab: its words stay words, nothing is cut off."""

import pytest

from helpers.study.chapter_2.signature_sandbox import SANDBOX
from helpers.view.widgets.forms import sandbox
from tests.browser.widget_page import document

FACTS = """() => [...document.querySelectorAll('label')].map(label => {
  const words = document.createRange();
  words.selectNodeContents(label.firstChild);
  const box = label.getBoundingClientRect();
  return {words: label.firstChild.textContent, lines: words.getClientRects().length,
          right: Math.max(box.right, label.lastChild.getBoundingClientRect?.().right ?? 0)};
})"""


@pytest.mark.parametrize("width", [240, 320, 900])
def test_a_choice_beside_its_word_fits_a_narrow_page(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    made = sandbox.widget(SANDBOX, lambda picked: "call", lambda picked, guess: {})
    page.set_content(document(made))
    page.locator("label").first.wait_for()
    labels = page.evaluate(FACTS)
    assert len(labels) > len(SANDBOX.controls)
    assert [label for label in labels if label["lines"] > 1 or label["right"] > width] == []
