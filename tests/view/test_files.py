"""Files under their names: lines numbered, new ones marked, words coloured and nothing lost."""

import re

from markupsafe import Markup

from helpers import show_op_files
from helpers.model.files import File, Files
from helpers.view import source_views
from helpers.view.source_views import files as view

CODE = (
    "import numpy as np\n\n\ndef forward(args):\n    '''Two\n    lines.'''\n    return args[0] * 2"
)
HOSTILE = "</pre><script>alert(1)</script>&\x00\u202e '''never closed"


def test_html_has_every_line_as_it_is():
    page = view.html(show_op_files({"k.py": CODE}).model)
    plain = Markup(re.sub(r"<[^>]+>", "", page)).unescape()
    assert [line for line in CODE.split("\n") if line not in plain] == []


def test_text_numbers_the_lines_and_marks_the_new_ones():
    shown = show_op_files({"k.py": CODE + "\nx = 1\n", "d.py": "y = 2\n"}, {"k.py": CODE})
    assert shown.model.file("k.py").new == (8,) and shown.model.file("d.py").new == (1,)
    lines = repr(shown).split("\n")
    assert "    8 + x = 1" in lines and "    4   def forward(args):" in lines
    assert lines[0] == "The op's 2 files" and lines[-1] == "+ marks 2 new lines."
    assert view.html(shown.model).count(" + </span>") == 2


def test_words_of_a_kind_have_its_style():
    (line,) = source_views._coloured("return 'a' # why")
    styles = re.findall(r'<span style="([^"]+)">([^<]+)</span>', line)
    assert "".join(words for _, words in styles) == "return&#39;a&#39;# why"
    assert len({style for style, _ in styles}) == 3


def test_long_files_say_what_is_left_out():
    model = Files("t", (File("a.py", "x\n" * 300), File("b.py", "y\n" * 300)))
    for told in (view.text(model), view.html(model)):
        assert "the model has all of them" in told
        assert told.count("</span>x") + told.count("  x") >= 300
        assert 0 < told.count("</span>y") + told.count("  y") < 101
