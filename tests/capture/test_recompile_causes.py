"""What a recompile is put down to: change that back, and only that, and the call is a hit.

Programs and calls are drawn. torch.compile itself is the judge: a backend that counts, and the
guards of the entry compared with.
"""

import contextlib
import dataclasses
import functools
import random
import re

import pytest

from helpers import watch_recompiles
from helpers.capture.torch.cache_entries import read_cache_entries
from helpers.capture.torch.frame_arguments import bind_frame_locals
from tests.samples import sample

pytestmark = [pytest.mark.own_process(sharing="torch"), pytest.mark.filterwarnings("ignore")]
torch = pytest.importorskip("torch")

SCALE = 1
CALLS = 5


def options_class():
    @dataclasses.dataclass
    class Options:
        k: int = 2

    return Options


CLASSES = options_class(), options_class()
CHOICES = {  # a leaf of a call -> what it may be
    "x.dtype": (torch.float32, torch.float64, torch.float16),
    "x.shape": ((3,), (4,), (2, 3), (4, 3), (1, 3), (5, 6)),
    "x.grad": (False, False, True),
    "x.layout": ("plain", "plain", "strided"),
    "y.dtype": (torch.float32, torch.int64),
    "y.shape": ((2,), (3,), (7,)),
    "y.grad": (False,),
    "y.layout": ("plain", "strided"),
    "n": (1, 2, 3, 2.5, True, None, "a"),
    "items": ([1], [1, 2], (1,), [3], {"a": 1}, {"a": 2}, {"b": 1}),
    "opts.cls": (0, 0, 1),
    "opts.k": (2, 3),
    "SCALE": (1, 2, 2.5),
    "factor": (1, 4),
    "net.training": (True, False),
    "mode": ("grad", "grad", "no_grad", "inference"),
    "autocast": (None, None, torch.bfloat16, torch.float16),
    "default": (torch.float32, torch.float64),
}
STATE = ("mode", "autocast", "default")
REMARK = re.compile(r",? added at `.*?` \(\S+\.py:\d+\)(?=[);]|$)")
ENTRIES = re.compile(r"entr(?:y|ies) ([\d, to]+): (.*)")
MISMATCH = re.compile(r"(dtype|size|rank|stride|requires_grad) mismatch")
OF_MISMATCH = {"size": "shape", "rank": "shape", "stride": "layout", "requires_grad": "grad"}
NAMES = {
    r"\bopts\b(?!\.k)": ("opts.cls",),
    r"\bopts\.k\b": ("opts.k",),
    r"\bn\b": ("n",),
    r"\bitems\b": ("items",),
    r"\bSCALE\b": ("SCALE",),
    r"\bfactor\b": ("factor",),
    r"\.training\b": ("net.training",),
    r"\b(?:grad|inference) mode\b": ("mode",),
    r"\bautocast \(cpu\)": ("autocast",),
    r"the default dtype": ("default",),
}


def made(factor_cell):
    """Return a function of two tensors, Python values, a dataclass and a module."""
    factor = factor_cell

    def run(x, y, n, items, opts, net):
        total = net(x) * SCALE + y.sum() * factor[0] + torch.ones(1)
        if isinstance(n, (int, float)):
            total = total * n
        for item in items.values() if isinstance(items, dict) else items:
            total = total + item
        return total * opts.k

    return run


def small(factor_cell):
    """Return a function that looks at half of its arguments."""

    def run(x, y, n, items, opts, net):
        total = x * 2 + len(items)
        return total + y.sum() if n else total

    return run


def tensor(spec, name):
    shape, dtype = spec[f"{name}.shape"], spec[f"{name}.dtype"]
    strided = spec[f"{name}.layout"] == "strided"
    made_of = torch.ones(*shape[:-1], shape[-1] * 2 if strided else shape[-1], dtype=dtype)
    found = made_of[..., ::2] if strided else made_of
    return found.requires_grad_(spec[f"{name}.grad"] and dtype.is_floating_point)


class Program:
    def __init__(self, make):
        self.called, self.factor, self.net = [], [1], torch.nn.Dropout(0.0)

        def backend(graph, examples):
            self.called.append(1)
            return graph.forward

        self.live = watch_recompiles(make(self.factor), backend=backend)

    @contextlib.contextmanager
    def world(self, spec):
        """Make the state that a call is made in."""
        global SCALE
        SCALE, self.factor[0] = spec["SCALE"], spec["factor"]
        self.net.train(spec["net.training"])
        modes = {"no_grad": torch.no_grad, "inference": torch.inference_mode}
        kind = spec["autocast"]
        cast = functools.partial(torch.autocast, "cpu", dtype=kind) if kind else None
        arguments = self.arguments(spec)
        torch.set_default_dtype(spec["default"])
        try:
            with modes.get(spec["mode"], contextlib.nullcontext)():
                with cast() if cast else contextlib.nullcontext():
                    yield arguments
        finally:
            torch.set_default_dtype(torch.float32)

    def arguments(self, spec):
        options = CLASSES[spec["opts.cls"]](spec["opts.k"])
        values = tensor(spec, "x"), tensor(spec, "y"), spec["n"], spec["items"], options
        return *values, self.net

    def call(self, spec):
        with self.world(spec) as arguments:
            self.live(*arguments)
        return self.live.model.entries[-1]

    def accepts(self, number: int, spec) -> bool:
        fn = self.live.compiled_function
        with self.world(spec) as arguments:
            seen = bind_frame_locals(fn, arguments, {})
            entry = read_cache_entries(fn.__code__)[number - 1]
            return bool(entry.guard_manager.root.check_verbose(seen).result)


def causes(note: str, count: int) -> dict[int, dict[str, bool]]:
    """Return entry number -> the leaves that a row names, and whether each must be necessary."""
    found = {number: {} for number in range(1, count + 1)}
    for line in note.split("\n"):
        if line.startswith("the new entry"):
            continue
        line = REMARK.sub("", line)
        match = ENTRIES.fullmatch(line)
        numbers, rest = (numbers_of(match[1]), match[2]) if match else ([1], line)
        for name, sure in leaves_of(rest).items():
            for number in numbers:
                found[number][name] = sure and found[number].get(name, True)
    return found


def numbers_of(words: str) -> list[int]:
    if " to " in words:
        first, last = map(int, words.split(" to "))
        return [*range(first, last + 1)]
    return [*map(int, words.split(", "))]


def leaves_of(words: str) -> dict[str, bool]:
    found, of = {}, ""
    for part in words.split("; "):
        part = part.partition(" (guard:")[0]
        of = next((name for name in "xy" if re.match(rf"{name}\b(?!\.\w+\W*\bmode)", part)), of)
        mismatch = MISMATCH.match(part.partition(": ")[2] or part)
        if mismatch:
            found[f"{of}.{OF_MISMATCH.get(mismatch[1], mismatch[1])}"] = True
        elif sized := re.findall(r"\b([xy])\.(size|stride)\(\)", part):
            for name, what in sized:
                found[f"{name}.shape"] = found.get(f"{name}.shape", False)
                if what == "stride":
                    found[f"{name}.layout"] = False
        elif re.match(r"[xy](?: is|:)", part):
            found |= {f"{part[0]}.{one}": False for one in ("dtype", "shape", "grad", "layout")}
        else:
            named = [leaf for name, leaf in NAMES.items() if re.search(name, part)]
            assert named, f"this names nothing: {part}"
            found |= {leaf: True for leaves in named for leaf in leaves}
    for name in "xy":  # other sizes have other strides anyway
        if f"{name}.shape" in found and f"{name}.layout" in found:
            found[f"{name}.layout"] = False
    return found


def draw(choose, calls):
    spec = dict(choose(calls)) if calls else {name: one[0] for name, one in CHOICES.items()}
    for _ in range(choose((1, 1, 2, 3)) if calls else 0):
        name = choose([*CHOICES])
        spec[name] = choose(CHOICES[name])
    return spec


@pytest.mark.parametrize("make", [made, small])
def test_changing_back_what_a_recompile_names_makes_the_call_a_hit(make):
    recompiles = 0
    for seed in range(sample(8, 150)):
        torch._dynamo.reset()
        choose, program = random.Random(seed).choice, Program(make)
        calls, compiled = [], []
        for _ in range(CALLS):
            calls.append(spec := draw(choose, calls))
            row = program.call(spec)
            assert "unknown" not in row.note, row.note
            if row.verdict == "recompile":
                recompiles += 1
                check_row(program, row, spec, compiled, seed)
            if row.verdict in ("compile", "recompile"):
                compiled.append(spec)
    assert recompiles > sample(8, 150)


def check_row(program, row, spec, compiled, seed):
    named = causes(row.note, len(compiled))
    for number, before in enumerate(compiled, 1):
        leaves = named[number]
        told = seed, number, row.note, {n: (before[n], spec[n]) for n in leaves}
        back = {**spec, **{name: before[name] for name in leaves}}
        assert leaves and program.accepts(number, back), told
        for name in (name for name, sure in leaves.items() if sure):
            assert repr(before[name]) != repr(spec[name]), told
            assert not program.accepts(number, {**back, name: spec[name]}), (name, *told)
        count = len(program.called)
        assert program.call(back).verdict == "hit" and len(program.called) == count, told
