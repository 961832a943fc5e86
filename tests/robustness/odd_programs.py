"""A seed -> an odd program: a module with a function `fn`, put together from `odd_pieces`."""

import linecache
import random
import sys
import textwrap
import types

from tests.robustness.odd_pieces import KINDS, LAST

HEAD = """\
import builtins, contextlib, contextvars, copy, ctypes, decimal, functools, gc, io, json, os, pickle
import random, re, signal, socket, sys, tempfile, threading, time, types, warnings, weakref

KEPT = []

class BadError2(Exception):
    def __str__(self): raise KeyError("str")

"""
# How the function is made of its body; `{body}` is indented by one level.
SHAPES = {
    "function": "def fn(n=3):\n{body}\n",
    "again": "def fn(n=3):\n{body}\n",
    "closure": "def outer(free):\n    def fn(n=3):\n        free\n{deeper}\n    return fn\n"
    "fn = outer([1])\n",
    "method": "class Holder:\n    def fn(self, n=3):\n{deeper}\nfn = Holder().fn\n",
    "static": "class Holder:\n    @staticmethod\n    def fn(n=3):\n{deeper}\nfn = Holder.fn\n",
    "class": "class Holder:\n    @classmethod\n    def fn(cls, n=3):\n{deeper}\nfn = Holder.fn\n",
    "wrapped": "def deco(f):\n    @functools.wraps(f)\n    def inner(*a, **k):\n"
    "        return f(*a, **k)\n    return inner\n@deco\ndef fn(n=3):\n{body}\n",
    "generator": "def fn(n=3):\n    yield n\n{body}\n",
    "coroutine": "async def fn(n=3):\n{body}\n",
    "async generator": "async def fn(n=3):\n    yield n\n{bare}\n",
    "lambda": "def body(n=3):\n{body}\nfn = lambda n=3: body(n)\n",
    "partial": "def body(m, n=3):\n{body}\nfn = functools.partial(body, 1)\n",
    "callable": "class Holder:\n    def __call__(self, n=3):\n{deeper}\nfn = Holder()\n",
    "recursive": "def fn(n=3):\n    if n > 1:\n        fn(n - 1)\n{body}\n",
    "no constants": "def fn(n=3):\n{body}\nfn.__code__ = fn.__code__.replace("
    "co_consts=fn.__code__.co_consts + ([1],))\n",
    "no lines": "def fn(n=3):\n{body}\nfn.__code__ = fn.__code__.replace(co_linetable=b'')\n",
    "no source": "def fn(n=3):\n{body}\nfn.__code__ = fn.__code__.replace(co_filename='\\0<x>')\n",
}


def source_of(seed: int) -> str:
    """Return the text of the program of this seed."""
    dice = random.Random(f"odd {seed}")
    chosen = []
    for _ in range(dice.choice((1, 1, 2, 2, 3, 4))):
        chosen.append(dice.choice(KINDS[dice.choice(list(KINDS))]))
    shape = dice.choice(list(SHAPES) if dice.random() < 0.6 else ["function", "closure", "method"])
    ending = dice.choice(LAST) if dice.random() < 0.6 else LAST[0]
    lines = ["total = 0", *(body for _, body in chosen), ending[1]]
    body = textwrap.indent("\n".join(lines), "    ")
    bare = textwrap.indent("\n".join(lines[:-1]), "    ")
    made = SHAPES[shape]
    parts = {"body": body, "bare": bare, "deeper": textwrap.indent(body, "    ")}
    for name, text in parts.items():
        made = made.replace("{" + name + "}", text)
    definitions = "\n".join(dict.fromkeys(part for part, _ in chosen if part))
    return f"{HEAD}{definitions}\n\n{made}"


def program(seed: int) -> types.ModuleType:
    """Return the module of this seed, with its source where `inspect` and tracebacks find it."""
    text, name = source_of(seed), f"odd_{seed}"
    module = types.ModuleType(name)
    module.__file__ = f"/nowhere/{name}.py"
    linecache.cache[module.__file__] = len(text), None, text.splitlines(True), module.__file__
    sys.modules[name] = module
    exec(compile(text, module.__file__, "exec"), vars(module))
    return module
