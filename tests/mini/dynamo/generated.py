"""Made programs, eager and through a door -> every difference; also as a script.

`python -m tests.mini.dynamo.generated --programs 5000 --seed 0`; `--shard 0/2` and `--shard 1/2`
share the work. Two worlds are made from the same source; what one call gives, prints, raises and
changes is described bit for bit, and has to be the same in both.
"""

import argparse
import contextlib
import io
import json
import linecache
import re
import resource
import struct
import sys
import time
import types
import warnings

import torch

from helpers.mini import dynamo, frame_hook
from tests.mini.dynamo.making import TARGETS, WORLD, made

SEEN = ("K", "T", "D", "FLAG", "BOX", "OTHER", "M", "WHOLE")
ADDRESS = re.compile(r"0x[0-9a-f]+")


class World:
    """One copy of everything: the program's globals, and how it is called."""

    def __init__(self, source: str, label: str):
        self.space = {"__name__": f"world_{label}"}
        sys.modules[self.space["__name__"]] = types.ModuleType(self.space["__name__"])
        for part, name in ((WORLD, "<world>"), (source, "<program>")):
            linecache.cache[name] = len(part), None, part.splitlines(True), name
            exec(compile(part, name, "exec"), self.space)

    def evaluated(self, expressions: tuple) -> tuple:
        """Return the arguments of a call; `x0` is the first one again."""
        values = []
        for text in expressions:
            scope = {"T": self.space["T"], "x0": values[0] if values else torch.ones(3)}
            values.append(eval(text, FIXED, scope))
        return tuple(values)

    def changed(self, change: str) -> str:
        """Make a change; return what it raised."""
        torch.manual_seed(5)
        try:
            exec(change, self.space)
        except Exception as error:
            return type(error).__name__
        return ""


FIXED = {}
exec(WORLD.split("class Base")[0], FIXED)  # what arguments are written with, whatever is changed


@contextlib.contextmanager
def state(name: str):
    """Turn on a state of torch for a call."""
    if name == "float64":
        torch.set_default_dtype(torch.float64)
    on = {
        "no_grad": torch.no_grad,
        "inference": torch.inference_mode,
        "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    }.get(name, contextlib.nullcontext)
    try:
        with on():
            yield
    finally:
        torch.set_default_dtype(torch.float32)


def outcome(world: World, called, arguments: tuple, name: str) -> dict:
    """Return what a call gives, in words that are the same only if nothing differs."""
    torch.manual_seed(11)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), state(name):
        args = world.evaluated(arguments)
        try:
            if name == "vmap":
                result = torch.vmap(lambda x: called(x, *args[1:]))(torch.stack([args[0]] * 2))
            else:
                result = called(*args)
        except Exception as error:
            result = error
    described = described_all(result, args, world)
    with contextlib.redirect_stdout(printed):
        gradients = _gradients(result, args, world)
    return {
        "result": described,
        "printed": ADDRESS.sub("", printed.getvalue()),
        "gradients": gradients,
        "random": torch.rand(1).item(),
    }


def described_all(result, args, world):
    memo = {}
    globals_now = [world.space.get(name, "<gone>") for name in SEEN]
    return [described(value, memo) for value in (result, args, globals_now)]


def _gradients(result, args, world) -> list:
    found = []
    for tensor in _tensors(result):
        if tensor.grad_fn is not None and tensor.is_floating_point():
            try:
                tensor.sum().backward(retain_graph=True)
            except Exception as error:
                found.append(_said(error))
    leaves = [*_tensors(args), *_tensors([world.space.get(n) for n in SEEN])]
    grads = []
    for leaf in leaves:
        if leaf.is_leaf and leaf.requires_grad:
            grads.append(described(leaf.grad, {}))
            leaf.grad = None
    return [found, grads]


def _tensors(value, deep=4) -> list:
    if isinstance(value, torch.Tensor):
        return [value]
    if deep and isinstance(value, (tuple, list)):
        return [t for item in value for t in _tensors(item, deep - 1)]
    if deep and isinstance(value, torch.nn.Module):
        return list(value.parameters())
    return []


def described(value, memo: dict):
    """Return a value as plain data: types, bits, order, and which objects are the same one."""
    kind = type(value)
    if kind is float:
        return ["float", struct.pack("<d", value).hex()]
    if kind is complex:
        return ["complex", struct.pack("<dd", value.real, value.imag).hex()]
    if kind is int:
        return ["int", hex(value)]  # `repr` refuses what has thousands of digits
    if kind in (bool, str, bytes, types.NoneType, range, slice, types.EllipsisType):
        return [kind.__name__, repr(value)]
    if isinstance(value, BaseException):
        return ["raised", kind.__name__, _said(value)]
    if kind is tuple:
        return ["tuple", *(described(item, memo) for item in value)]
    if id(value) in memo:
        return ["again", memo[id(value)][0]]
    memo[id(value)] = len(memo), value
    if isinstance(value, torch.Tensor):
        return _described_tensor(value)
    if isinstance(value, (list, tuple)):
        return [kind.__name__, *(described(item, memo) for item in value)]
    if isinstance(value, dict):
        return ["dict", *([repr(k), described(v, memo)] for k, v in value.items())]
    if isinstance(value, torch.nn.Module) or kind.__name__ in ("Box", "Other"):
        own = object.__getattribute__(value, "__dict__").items()
        return [kind.__name__, *([n, described(v, memo)] for n, v in own if "hook" not in n)]
    return [kind.__name__, ADDRESS.sub("", repr(value))]


def _described_tensor(t) -> list:
    about = [
        type(t).__name__,
        str(t.dtype),
        list(t.shape),
        str(t.device),
        t.requires_grad,
        t.is_leaf,
    ]
    try:
        numbers = t.detach().resolve_conj().contiguous().clone().view(-1)
        return [*about, bytes(numbers.view(torch.uint8).tolist()).hex()]
    except RuntimeError as error:
        return [*about, type(error).__name__]


def _said(error) -> str:
    return f"{type(error).__name__}: {ADDRESS.sub('', str(error))}".replace(
        "world_mini", "world_eager"
    )


def difference(seed: int, number: int, backend=None) -> tuple[str, dict]:
    """Return where a made program, through its door, parts from eager, and what became of it."""
    source, target, door, calls = made(seed, number)
    if door == "hook" and not frame_hook.available():
        door = "decorator"
    eager, mini = World(source, "eager"), World(source, "mini")
    plain = eval(TARGETS[target], eager.space)
    inside = eval(TARGETS[target], mini.space)
    with contextlib.ExitStack() as stack:
        if door == "hook":
            compiled = stack.enter_context(dynamo.hooked(backend, only=[inside]))
            (seen,), called = compiled.values(), inside
        else:
            seen = called = dynamo.compile(inside, backend)
        words = _compared(eager, plain, mini, called, calls)
    hits = sum(max(entry.hits - 1, 0) for entry in seen.entries)
    facts = {"graphs": len(seen.graphs), "hits": hits, "entries": len(seen.entries), "door": door}
    return words and f"program {number} of seed {seed}, {target}, {door}\n{source}{words}", facts


def _compared(eager, plain, mini, called, calls) -> str:
    for at, (change, name, arguments) in enumerate(calls):
        raised = eager.changed(change), mini.changed(change)
        if raised[0] != raised[1]:
            return f"call {at}: {change} raises {raised}"
        want = outcome(eager, plain, arguments, name)
        got = outcome(mini, called, arguments, name)
        for part in want:
            if got[part] != want[part]:
                told = f"call {at}, after {change!r} {name}, of {arguments}: {part}"
                return f"{told}\n  {_apart(got[part], want[part])}\ncalls: {calls[: at + 1]}"
    return ""


def _apart(got, want) -> str:
    """Return the first place where two descriptions differ."""
    if isinstance(got, list) and isinstance(want, list) and len(got) == len(want):
        pairs = zip(got, want, strict=True)
        return next(_apart(a, b) for a, b in pairs if a != b)
    return f"mini {str(got)[:300]}\n  real {str(want)[:300]}"


def run(programs: int, seed: int, shard: int = 0, shards: int = 1, backend=None, tell=None) -> dict:
    """Compare many programs; return the differences and what became of them all.

    `tell(words)` hears each difference at once.
    """
    found, total = [], {"programs": 0, "with a graph": 0, "with a hit": 0, "entries": 0}
    for number in range(shard, programs, shards):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            words, facts = difference(seed, number, backend)
        found += [words] if words else []
        if tell and (words or total["programs"] % 250 == 249):
            tell(words or f"# {number + 1}")
        total["programs"] += 1
        total["with a graph"] += bool(facts["graphs"])
        total["with a hit"] += bool(facts["hits"])
        total["entries"] += facts["entries"]
    return {**total, "differences": found}


def main() -> int:
    """Compare programs and print what differs; 1 if anything does."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--programs", type=int, default=5000)
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--shard", default="0/1", help="which share, such as 1/2")
    given = asked.parse_args()
    shard, shards = map(int, given.shard.split("/"))
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))  # a program may ask for more
    start = time.process_time()
    done = run(
        given.programs, given.seed, shard, shards, tell=lambda words: print(words, flush=True)
    )
    print(json.dumps({**done, "differences": len(done["differences"])}))
    print(f"{time.process_time() - start:.0f} s of CPU")
    return bool(done["differences"])


if __name__ == "__main__":
    sys.exit(main())
