"""Every start-up switch does what chapter 6 says, each time, and can be tried again."""

import pytest

from helpers import startup_switches
from helpers.capture.tensorflow.startup_switches import SWITCHES
from helpers.capture.tensorflow.startup_switches import run_switch as startup
from helpers.view.widgets.forms import rerun_widget

pytest.importorskip("tensorflow")

SAYS = {
    "disable: the same line builds a graph": "SymbolicTensor False\n6.0",
    "enable, after the global graph was used": "must be called at program startup",
    "enable, with an invalid policy": "device_policy must be one of",
    "enable, with options the live context does not have": "no attribute '_execution_mode'",
    "enable, with options, before a context: a name is rebound": "context context_safe False",
    "TFE_Py_InitEagerTensor, a second time": "strict subclass of EagerTensor",
}


@pytest.fixture(scope="module")
def switches():
    return startup_switches()


def test_each_switch_does_what_is_said_of_it(switches):
    assert list(SAYS) == list(SWITCHES)
    for run in switches.model.runs:
        assert SAYS[run.label] in f"{run.printed}\n{run.error}", run.label
        assert run.lived


def test_own_lines_run_too(switches, refused):
    assert switches.run("mine", "print(context._context)").model.runs[0].printed == "None"
    refused(KeyError, f"'mine' .* {len(SWITCHES)} ", switches.run, "mine")


def test_the_widget_asks_for_a_new_run(switches):
    made = rerun_widget(switches.model, startup)
    assert made.sources[0] == SWITCHES[made.labels[0]] and not made.answer
    made._handle_custom_msg({"label": "x", "source": "print('<b>')"}, [])
    assert made.answer["says"] == "○ exit code 0"
    assert made.answer["shown"].endswith("&lt;b&gt;</pre>")
    made._handle_custom_msg({"label": "x", "source": "import os; os.abort()"}, [])
    assert made.answer["says"].startswith("✕") and made.answer["number"] == 2
    assert repr(made).endswith(f"{len(SWITCHES)} switches)")
