"""Each way into a call has a row with its users; a way that nobody uses says so."""

import builtins
import sys
import threading
import types
import warnings

import pytest

from helpers.capture.frameworks import call_interceptions
from helpers.capture.frameworks.call_interceptions import (
    COLUMNS,
    LONG_COLUMNS,
    MOST_USERS,
    NOT_LOOKED_AT,
    WAYS,
    list_interceptions,
)
from helpers.model.interception_records import NEW, NOBODY, OLD, Interception
from helpers.model.tables import Column


def mine(*args): ...


class Hook:
    def method(self, *args): ...


class Silent:
    """A hook that cannot be called by a name of its own."""


@pytest.fixture(autouse=True)
def without_frameworks(monkeypatch):
    """Let no framework be imported, and nobody patch a name."""
    monkeypatch.setattr(call_interceptions.restoring, "find_loaded_module", lambda name: None)
    monkeypatch.setattr(call_interceptions, "describe_patched_names", lambda most: "")
    evaluator = types.SimpleNamespace(owner="CPython: ceval.c", name="default")
    monkeypatch.setattr(call_interceptions.frame_hook, "installed", lambda: (evaluator, 0))


def read_users():
    return {row.way: row.now for row in list_interceptions().rows}


def test_every_known_way_is_a_row_with_its_facts():
    listing = list_interceptions()
    assert [row.way for row in listing.rows] == list(WAYS)
    for row in listing.rows:
        known = WAYS[row.way]
        assert row == Interception(known.station, row.way, row.now, known.sees, known.source)
        assert row.now
    assert listing.columns == tuple(
        Column(field, heading, field in LONG_COLUMNS) for field, heading in COLUMNS.items()
    )


def test_the_note_counts_the_ways_that_are_used():
    listing = list_interceptions()
    assert listing.note.startswith(f"{len(listing.taken)} of {len(WAYS)} ")
    assert listing.note.endswith(NOT_LOOKED_AT)


def test_the_ways_of_a_framework_that_is_not_imported_are_old():
    users = read_users()
    for way in ("torch dispatch modes", "TensorFlow op callbacks", "gradient tapes", "cell events"):
        assert users[way] == OLD


def test_what_nobody_uses_says_so():
    users = read_users()
    for way in ("patched names", "builtins", "frame evaluator", "threading.setprofile"):
        assert users[way] == NOBODY


@pytest.mark.parametrize("name", ["displayhook", "excepthook", "unraisablehook", "breakpointhook"])
def test_a_hook_of_sys_is_named_if_it_is_not_the_first_one(monkeypatch, name):
    monkeypatch.setattr(sys, name, getattr(sys, f"__{name}__"))
    assert read_users()[f"sys.{name}"] == NOBODY
    monkeypatch.setattr(sys, name, mine)
    assert read_users()[f"sys.{name}"] == "mine"
    monkeypatch.setattr(sys, name, Hook().method)
    assert read_users()[f"sys.{name}"].startswith("Hook.")
    monkeypatch.setattr(sys, name, Silent())
    assert read_users()[f"sys.{name}"] == "Silent"


@pytest.mark.parametrize("way", ["settrace", "setprofile"])
def test_tracers_of_this_thread_and_of_new_ones_are_told_apart(monkeypatch, way):
    reader = way.replace("set", "get")
    monkeypatch.setattr(sys, reader, lambda: None)
    monkeypatch.setattr(threading, reader, lambda: mine)
    users = read_users()
    assert (users[f"sys.{way}"], users[f"threading.{way}"]) == (NOBODY, "mine")
    monkeypatch.setattr(sys, reader, lambda: mine)
    monkeypatch.setattr(threading, reader, lambda: None)
    users = read_users()
    assert (users[f"sys.{way}"], users[f"threading.{way}"]) == ("mine", NOBODY)


def test_replaced_builtins_are_named_with_what_replaces_them(monkeypatch):
    monkeypatch.setattr(builtins, "print", mine)
    assert read_users()["builtins"] == "mine for print"


def test_finders_other_than_python_s_own_are_named(monkeypatch):
    own = [call_interceptions.machinery.BuiltinImporter, call_interceptions.machinery.PathFinder]
    monkeypatch.setattr(sys, "meta_path", own)
    assert read_users()["import finders"] == NOBODY
    monkeypatch.setattr(sys, "meta_path", [*own, Silent()])
    assert read_users()["import finders"] == "Silent"


def test_only_the_first_users_are_named(monkeypatch):
    finders = [type(f"Finder{number}", (), {})() for number in range(MOST_USERS + 1)]
    monkeypatch.setattr(sys, "meta_path", finders)
    text = read_users()["import finders"]
    assert all(f"Finder{number}" in text for number in range(MOST_USERS))
    assert f"Finder{MOST_USERS}" not in text
    assert "1" in text.rpartition(f"Finder{MOST_USERS - 1}")[2]


def test_the_frame_evaluator_has_its_owner(monkeypatch):
    evaluator = types.SimpleNamespace(owner="torch", name="custom_eval")
    monkeypatch.setattr(call_interceptions.frame_hook, "installed", lambda: (evaluator, 0))
    assert read_users()["frame evaluator"] == "custom_eval (torch)"


def test_patched_names_are_described(monkeypatch):
    monkeypatch.setattr(
        call_interceptions, "describe_patched_names", lambda most: f"at most {most}"
    )
    assert read_users()["patched names"] == f"at most {MOST_USERS}"


def test_tools_of_monitoring_are_named_or_are_of_a_newer_python(monkeypatch):
    monkeypatch.delattr(sys, "monitoring", raising=False)
    assert read_users()["sys.monitoring"] == NEW
    tools = {0: "debugger", 5: "last", 6: "none of the six"}
    monitoring = types.SimpleNamespace(get_tool=tools.get)
    monkeypatch.setattr(sys, "monitoring", monitoring, raising=False)
    assert read_users()["sys.monitoring"] == "debugger, last"
    monkeypatch.setattr(monitoring, "get_tool", lambda number: None)
    assert read_users()["sys.monitoring"] == NOBODY


def test_warnings_that_raise_are_named_once():
    with warnings.catch_warnings():
        warnings.resetwarnings()
        assert read_users()["warnings as errors"] == NOBODY
        warnings.simplefilter("ignore", ImportWarning)
        warnings.filterwarnings("error", "one", UserWarning)
        warnings.filterwarnings("error", "two", UserWarning)
        assert read_users()["warnings as errors"] == "UserWarning"


def test_modes_of_a_framework_are_named_and_unknown_if_they_cannot_be_read(monkeypatch):
    def fails():
        raise KeyError("private")

    modes = {
        "torch autocast": lambda: ["cpu"],
        "torch settings": lambda: [],
        "torch.func layers": lambda: [mine, Silent()],
        "torch autograd modes": fails,
    }
    monkeypatch.setattr(call_interceptions.torch_modes, "MODES", modes)
    monkeypatch.setattr(call_interceptions.torch_modes, "read_mode_stacks", lambda: ([], [Hook()]))
    monkeypatch.setattr(call_interceptions.frame_callback, "read_frame_callback", lambda: False)
    monkeypatch.setattr(
        call_interceptions.restoring, "find_loaded_module", lambda name: name == "torch" or None
    )
    users = read_users()
    assert users["torch autocast"] == "cpu"
    assert users["torch settings"] == NOBODY
    assert users["torch.func layers"] == "mine, Silent"
    assert "KeyError" in users["torch autograd modes"]
    assert users["torch function modes"] == "Hook"
    assert users["torch dispatch modes"] == NOBODY
    assert users["torch's frame callback"] == NOBODY
    assert users["gradient tapes"] == OLD
    monkeypatch.setattr(call_interceptions.frame_callback, "read_frame_callback", lambda: mine)
    assert read_users()["torch's frame callback"] == "mine"


def test_hooks_of_a_notebook_s_shell_are_named(monkeypatch):
    callbacks = {"pre_run_cell": [mine], "post_run_cell": [Hook().method]}
    shell = types.SimpleNamespace(
        events=types.SimpleNamespace(callbacks=callbacks), ast_transformers=[Silent()]
    )
    ipython = types.SimpleNamespace(get_ipython=lambda: shell)
    loaded = {"IPython": ipython}
    monkeypatch.setattr(call_interceptions.restoring, "find_loaded_module", loaded.get)
    users = read_users()
    assert users["cell transformers"] == "Silent"
    first, second = users["cell events"].split(", ")
    assert first.startswith("Hook.") and second == "mine"
    monkeypatch.setattr(ipython, "get_ipython", lambda: None)
    assert read_users()["cell events"] == OLD
