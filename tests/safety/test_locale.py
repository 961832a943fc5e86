"""Verbs, their children and their files do the same where the locale knows no letter but ASCII."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ASCII = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
PROGRAM = """
import json, sys
from pathlib import Path
import helpers
from helpers.safety import learner_record
from helpers.study.op_folder import op_folder

def told(x):
    print("naïve ∞")
    return "İ" + x

place = Path("progress.jsonl")
said = learner_record.add(place, {"predict": "İ?", "said": "ü", "was": "\\udc80", "chapter": 1})
folder = op_folder("odd_letters", {"a.py": "# ∞\\n"})
print(json.dumps({
    "preferred": sys.stdout.encoding,
    "result": helpers.call_in_child(told, "∞"),
    "forked": repr(helpers.watch_in_child("print('ü∞')", imports="import json")),
    "watched": repr(helpers.watch_frames(told, "∞")),
    "read": [said, learner_record.read(place).events],
    "file": Path(folder, "odd_letters", "a.py").read_bytes().hex(),
}))
"""


@pytest.mark.skipif(os.name != "posix", reason="the locale of POSIX")
@pytest.mark.parametrize("own", [ASCII, ASCII | {"PYTHONIOENCODING": "ascii"}])
def test_letters_come_through_a_locale_that_has_none_of_them(own, tmp_path):
    odd = tmp_path / "ü∞"
    odd.mkdir()
    (odd / "program.py").write_text(PROGRAM.replace("\\\\", "\\"), encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if name not in ("LANG", "LC_CTYPE")}
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=odd,
        env={**kept, **own, "PYTHONPATH": str(ROOT), "TMPDIR": str(odd)},
        capture_output=True,
        timeout=120,
    )
    assert not done.returncode, done.stderr.decode(errors="replace")
    found = json.loads(done.stdout)
    assert found["preferred"] == "ascii"
    assert found["result"] == "İ∞" and "ü∞" in found["forked"] and "naïve" in found["watched"]
    event = {"predict": "İ?", "said": "ü", "was": "\udc80", "chapter": 1}
    assert found["read"] == ["", [event]]
    assert bytes.fromhex(found["file"]).decode() == "# ∞\n"
    assert sorted(one.name for one in odd.iterdir()) == ["program.py", "progress.jsonl"]
