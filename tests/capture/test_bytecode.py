"""Bytecode, code objects, stored versions and specialisation: held against the running Python."""

import dis
import json
import types

import pytest

from helpers.capture.cpython import rosetta, rosetta_programs
from helpers.capture.cpython.bytecode import list_bytecode
from helpers.capture.cpython.code_fields import FIELDS, build_code_tree
from helpers.capture.cpython.specialisation import record_specialisation
from helpers.capture.cpython.tracer_costs import measure_tracers
from tests.capture import stack_programs
from tests.pythons import VERSIONS, run
from tools import dump_rosetta

FUNCTIONS = [f for f in vars(stack_programs).values() if isinstance(f, types.FunctionType)]


def branch(x):
    é = "ü" * x
    if x > 1:
        return é + "many"
    return é


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_listing_says_what_dis_says(fn):
    said, real = list_bytecode(fn), dis.get_instructions(fn)
    assert [(r.offset, r.opname) for r in said.rows] == [(i.offset, i.opname) for i in real]
    assert bytes.fromhex("".join(r.data for r in said.rows)) == fn.__code__.co_code
    assert max(r.before for r in said.rows) <= fn.__code__.co_stacksize
    targets = {r.offset for r in said.rows}
    assert all(r.target in targets for r in said.rows if r.target >= 0)
    assert len(said.jumps()) == sum(r.target >= 0 for r in said.rows)


def test_snippet_is_the_source_that_the_instruction_comes_from():
    rows = list_bytecode(branch).rows
    assert {r.snippet for r in rows} >= {'"ü" * x', 'é + "many"', "x > 1"}
    row = next(r for r in rows if r.snippet == 'é + "many"')
    assert row.line == branch.__code__.co_firstlineno + 3 and row.span == (4, 15, 4, 25)


def test_adaptive_names_what_runs_now():
    def add(a, b):
        return a + b

    for _ in range(200):
        add(1, 2)
    rows = list_bytecode(add, adaptive=True).rows
    live = [i.opname for i in dis.get_instructions(add, adaptive=True)]
    assert [r.running for r in rows] == live and live != [r.opname for r in rows]


@pytest.mark.parametrize("thing, name", [(abs, r"abs\(\)"), (dict, "dict"), ("x", "'x'")])
@pytest.mark.parametrize(
    "build, verb", [(list_bytecode, "show_bytecode"), (build_code_tree, "show_code")]
)
def test_what_has_no_code_object_is_refused_by_its_name(build, verb, thing, name, refused):
    refused(TypeError, f"^{verb} .*{name}", build, thing)


def test_every_field_is_explained():
    def outer(a, /, b, *, c=1):
        def inner():
            return a, len(str(b))

        return inner

    tree = build_code_tree(outer)
    fields = {row.name for row in tree.fields.rows}
    assert fields >= {name for name in dir(outer.__code__) if name.startswith("co_")}
    assert {name for name in fields if name not in FIELDS} == set()
    assert tree.field("co_posonlyargcount") == "1" and tree.field("co_kwonlyargcount") == "1"
    assert tree.field("co_cellvars") == "('a', 'b')"
    assert [depth for depth, _ in tree.walk()] == [0, 1]
    assert tree.nested[0].field("co_freevars") == "('a', 'b')"
    used = {row.name: row.used for row in tree.nested[0].fields.rows}
    assert used["co_names"].endswith("LOAD_GLOBAL uses [0]")


@pytest.mark.parametrize("version", VERSIONS)
def test_stored_bytecode_is_what_that_version_compiles(version):
    code = (
        "import json; from helpers.capture.cpython import rosetta\n"
        "print(json.dumps([[p.__name__, [[r.offset, r.opname, r.argument] "
        "for r in rosetta.list_running_bytecode(p.__name__).rows]] "
        "for p in rosetta.rosetta_programs.PROGRAMS]))"
    )
    live = dict(json.loads(run(version, code)))
    assert live == json.loads((dump_rosetta.DUMPS / f"{version}.json").read_text("utf-8"))


@pytest.mark.parametrize("fn", rosetta_programs.PROGRAMS, ids=lambda fn: fn.__name__)
def test_rosetta_keeps_every_instruction_in_order(fn):
    table = rosetta.compare_versions(fn.__name__)
    for version in rosetta.STORED:
        dumped = json.loads((dump_rosetta.DUMPS / f"{version}.json").read_text("utf-8"))
        column = [getattr(row, f"v{version.replace('.', '_')}") for row in table.rows]
        shown = [words for words in column if words and words != rosetta.SAME]
        wanted = [f"{o} {n} {a}".rstrip() for o, n, a in dumped[fn.__name__]]
        assert shown == wanted
    told = [row.change for row in table.rows if row.change]
    notes = table.note.split("\n")
    assert told and [line.partition(": ")[2] for line in notes[1:]] == told
    names = {words.split()[1] for row in table.cells() for words in row if words}
    assert {line.partition(": ")[0] for line in notes[1:]} <= names


def multiply(x, y):
    return x * y


def test_specialisation_follows_the_types():
    table = record_specialisation(multiply, {"ints": (2, 3), "floats": (2.0, 3.0)})
    row = next(r for r in table.rows if r.instruction.startswith("BINARY_OP"))
    assert row.stage_0 == "BINARY_OP" and "INT" in row.stage_1 and "FLOAT" in row.stage_2
    assert "in use" in row.caches
    again = record_specialisation(multiply, {"ints": (2, 3), "floats": (2.0, 3.0)})
    assert table.cells() == again.cells()


def test_every_tracer_has_its_cost():
    costs = measure_tracers(lambda: sum(range(9)))
    asked = ["sys.settrace: calls", "sys.settrace: lines", "sys.settrace: instructions"]
    asked += ["sys.setprofile: calls", "watch_stack's record"]
    assert {*asked} <= {row.action for row in costs.rows}
    assert all(row.ratio > 0 for row in costs.rows)
