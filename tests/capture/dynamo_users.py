"""Programs that use torch.compile, run in a process of their own: plainly, or watched many times.

`python -m tests.capture.dynamo_users TIMES VERB...` runs each with one of these verbs, by turns, at
the place where the program says so; `plain` calls the function there instead. In the block of
`watching_breaks` is the whole program. It prints as JSON what a program can feel of Dynamo's state.
"""

import contextlib
import gc
import io
import json
import linecache
import logging
import random
import sys
import warnings
import weakref

import torch
import torch._dynamo as dynamo
from torch import nn
from torch._dynamo import convert_frame, external_utils
from torch._dynamo.utils import counters
from torch.utils.checkpoint import checkpoint

import helpers
from helpers.mini.frame_hook import slot


def set_heap_aside():
    """Compile once, and hide what there is from the collector: a search of the heap is quick then.

    The functions below are made afterwards, so they stay in sight.
    """
    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    set_heap_aside()
X = torch.linspace(-1.0, 1.0, 8).reshape(2, 4)
SCALE = 2.0


class User:
    """One program's run: where it watches, what it calls, and what comes of its calls."""

    def __init__(self, verb, times):
        self.verb, self.times, self.compiles = verb, times, 0
        self.calls, self.codes, self.things = [], [], []

    def backend(self, graph, inputs):
        """Count a graph, and run it as it is."""
        self.compiles += 1
        return graph.forward

    def watch(self, fn, *args, **kwargs):
        """Watch it as often as asked; with no verb, call it as often."""
        for _ in range(self.times):
            with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
                self.verb(fn, *args, **kwargs)
        self.things += [fn, *(one for one in args if isinstance(one, (nn.Module, torch.Tensor)))]

    def compiled(self, fn, **options):
        """Compile it as a user does."""
        found = getattr(getattr(fn, "forward", fn), "__code__", None)
        self.codes += [found] if found else []
        return torch.compile(fn, backend=self.backend, **options)

    def call(self, compiled, *args, **kwargs):
        """Call what is compiled, and note the result, and how many graphs there are by now."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                result = compiled(*args, **kwargs)
            except Exception as error:
                result = type(error).__name__
        words = repr(result) if not isinstance(result, torch.Tensor) else repr(result.detach())
        self.calls.append((words[:200], printed.getvalue(), self.compiles))

    def use(self, fn, *calls):
        """Compile it, and call it with each argument twice."""
        compiled = self.compiled(fn)
        for one in calls or (X, X):
            self.call(compiled, one)
            self.call(compiled, one)


def scaled(x):
    return (x * SCALE).sin()


def chatty(x):
    y = x.sin()
    print("halfway")
    return y.cos()


def plain_function(user):
    user.watch(scaled, X)
    user.use(scaled)


def ten_shapes_afterwards(user):
    def fresh(x):
        return x.sin() + 1

    user.times = 10
    user.watch(fresh, X)
    compiled = user.compiled(fresh, dynamic=False)
    for size in range(2, 12):
        user.call(compiled, torch.ones(size))


def compiled_before(user):
    compiled = user.compiled(chatty)
    for x in (X, X[:1], X.double(), X):
        user.call(compiled, x)
    user.watch(chatty, X)
    for x in (X, X[:1], X.double(), torch.ones(3), torch.ones(5)):
        user.call(compiled, x)


def at_its_limit(user):
    def limited(x):
        return x.cos()

    compiled = user.compiled(limited, dynamic=False)
    for size in range(2, 12):
        user.call(compiled, torch.ones(size))
    user.watch(compiled, X)
    for size in range(2, 14):
        user.call(compiled, torch.ones(size))


def linear(user):
    layer, user.times = nn.Linear(4, 2), 10
    user.watch(layer, X)
    user.use(layer)
    for size in range(1, 12):
        user.use(nn.Linear(4, size), X)


def sequential(user):
    user.watch(nn.Sequential(nn.Linear(4, 2), nn.ReLU()), X)
    user.use(nn.Sequential(nn.Linear(4, 3), nn.Tanh()))


def lstm_then_linear(user):
    user.watch(nn.LSTM(4, 3), X)
    user.use(nn.Linear(4, 2))


def module_of_the_user(user):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.calls = nn.Linear(4, 4), 0

        def forward(self, x):
            self.calls += 1
            return self.layer(x).relu()

    net = Net()
    user.watch(net, X)
    user.use(net, X, X, X)


def hooks(user):
    layer = nn.Linear(4, 4)
    layer.register_forward_hook(lambda module, inputs, result: result * 2)
    layer.register_forward_pre_hook(lambda module, inputs: (inputs[0] + 1,))
    net = nn.Sequential(layer, nn.ReLU())
    user.watch(net, X)
    user.use(net)


def generators(user):
    def parts(x):
        for row in x:
            yield row.sin()
            print("a row")

    def summed(x):
        return sum(parts(x))

    user.watch(summed, X)
    user.use(summed)


def tries(user):
    def tried(x):
        try:
            print("in it")
            return x.sin()
        except ValueError:
            return x
        finally:
            x = x + 1

    user.watch(tried, X)
    user.use(tried)


def with_blocks(user):
    def graded(x):
        with torch.no_grad():
            y = x.sin()
            dynamo.graph_break()
        return y * x

    user.watch(graded, X)
    user.use(graded)


def branches(user):
    def branched(x):
        if x.sum() > 0:
            return x.sin()
        return x.cos()

    user.watch(branched, X)
    user.use(branched, X, X + 1, X - 1)


def own_autograd_function(user):
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    def doubled(x):
        return Doubled.apply(x).sum()

    x = X.clone().requires_grad_()
    user.watch(doubled, x)
    user.use(doubled, x)


def checkpointed(user):
    layer = nn.Linear(4, 4)

    def inner(x):
        return layer(x).relu()

    def outer(x):
        return checkpoint(inner, x, use_reentrant=False).sum()

    x = X.clone().requires_grad_()
    user.watch(outer, x)
    user.use(outer, x)


def compiled_inside(user):
    def inside(x):
        return x.sin()

    compiled = user.compiled(inside)

    def outer(x):
        print("before")
        return compiled(x) + 1

    user.call(compiled, X)
    user.watch(outer, X)
    user.call(compiled, X)
    user.call(compiled, X.double())
    user.use(outer)


def raising(user):
    def fails(x):
        y = x.sin()
        print("soon")
        raise ValueError(f"{y.shape}")

    user.watch(fails, X)
    user.use(fails)


def keyword_arguments(user):
    def keyed(x, *, factor=1, flags=()):
        return x * factor + len(flags)

    user.watch(keyed, X, factor=3, flags=("a",))
    compiled = user.compiled(keyed)
    for factor in (3, 4, 5):
        user.call(compiled, X, factor=factor, flags=("a",))


def marked_dynamic(user):
    def sized(x):
        return x * x.shape[0]

    x = torch.ones(6, 2)
    dynamo.mark_dynamic(x, 0)
    user.watch(sized, x)
    user.use(sized, x, torch.ones(7, 2), torch.ones(9, 2))


def sizes_seen(user):
    def summed(x):
        return x.sum() * 2

    compiled = user.compiled(summed)
    user.call(compiled, torch.ones(3))
    user.watch(summed, torch.ones(5))
    for size in (5, 7, 9):
        user.call(compiled, torch.ones(size))


def closures(user):
    found = []

    def noted(x):
        found.append(x.shape[0])
        return x * len(found)

    user.watch(noted, X)
    user.use(noted, X, X, X)


def inside_a_dispatch_mode(user):
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    def moded(x):
        return x.sin()

    compiled = user.compiled(moded)
    with Mode():
        user.call(compiled, X)
    user.watch(compiled, X)
    user.call(compiled, X)


def disabled(user):
    @torch.compiler.disable
    def kept_out(x):
        return x.sin()

    def calls(x):
        return kept_out(x) + x.cos()

    user.watch(kept_out, X)
    user.watch(calls, X)
    user.use(calls)


def nested_functions(user):
    def outer(x):
        def inner(y):
            print("inside")
            return y.sin()

        return inner(x) + inner(x + 1)

    user.use(outer)
    user.watch(outer, X)
    user.use(outer, X, X.double())


def dropout(user):
    net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    user.watch(net, X)
    torch.manual_seed(3)
    user.use(net)


def python_random(user):
    def lucky(x):
        return x * random.random()

    user.watch(lucky, X)
    random.seed(3)
    user.use(lucky)


def fullgraph_fails(user):
    user.watch(chatty, X)
    compiled = user.compiled(chatty, fullgraph=True)
    user.call(compiled, X)
    user.watch(chatty, X)
    user.use(scaled)


def other_stance(user):
    compiled = user.compiled(scaled)
    user.call(compiled, X)
    with torch.compiler.set_stance("force_eager"):
        user.watch(scaled, X)
        user.call(compiled, X)
    user.call(compiled, X.double())


def hooks_on_compiles(user):
    begun = []
    from torch._dynamo.callback import callback_handler

    def started(*told):
        begun.append(1)

    callback_handler.register_start_callback(started)
    user.watch(scaled, X)
    user.calls.append(len(begun))
    callback_handler.remove_start_callback(started)


def lists_of_tensors(user):
    def joined(parts, named):
        return torch.cat(parts) + named["shift"]

    user.watch(joined, [X, X], {"shift": 1.0})
    compiled = user.compiled(joined)
    for count in (1, 2, 3):
        user.call(compiled, [X] * count, {"shift": 1.0})


def warned_once(user):
    import functools

    @functools.lru_cache
    def cached(n):
        return n + 1

    def uses_cache(x):
        return x * cached(2)

    user.watch(uses_cache, X)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        user.use(uses_cache)
    user.calls.append([str(one.message)[:80] for one in found])


PROGRAMS = {
    name: value
    for name, value in [*globals().items()]
    if getattr(value, "__module__", "") == __name__
    and getattr(value, "__code__", None)
    and value.__code__.co_varnames[:1] == ("user",)
}


def state(user) -> dict:
    """Return what a program can feel of Dynamo."""
    shared = [
        external_utils.wrap_inline(scaled).__code__,
        nn.Module._call_impl.__code__,
        scaled.__code__,
        chatty.__code__,
    ]
    entries = torch._C._dynamo.eval_frame._debug_get_cache_entry_list
    names = [name.rstrip("0123456789_") for name in globals() if name.startswith("__")]
    logs = [logging.getLogger(n) for n in sorted(logging.root.manager.loggerDict) if "torch" in n]
    return {
        "calls": user.calls,
        "entries": [len(entries(code)) for code in (*user.codes, *shared)],
        "counters": {k: dict(found) for k, found in counters.items() if found},
        "config": {k: _plain(found) for k, found in dynamo.config.get_config_copy().items()},
        "names": sorted(name.partition("_fn")[0] for name in names),
        "frames": [convert_frame.FRAME_COUNTER, sum(convert_frame.FRAME_COMPILE_COUNTER.values())],
        "codes": [len(one.seen_ids) for one in (convert_frame.input_codes,)],
        "metrics": len(dynamo.utils.get_compilation_metrics()),
        "times": sorted(dynamo.utils.compilation_time_metrics),
        "backends": len(dynamo.eval_frame.cached_backends),
        "stance": dynamo.eval_frame._stance.stance,
        "callback": repr(torch._C._dynamo.eval_frame.get_eval_frame_callback()),
        "evaluator": slot.installed()[0].owner,
        "handlers": [(log.name, len(log.handlers), log.level, log.disabled) for log in logs],
        "random": [random.random(), torch.rand(1).item()],
        "grad": [torch.is_grad_enabled(), str(torch.get_default_dtype())],
        "modes": [torch._C._len_torch_dispatch_stack(), torch._C._len_torch_function_stack()],
        "attributes": [sorted(vars(one)) for one in user.things if hasattr(one, "__dict__")],
        "finalizers": len(weakref.finalize._registry),
        "sources": len([name for name in linecache.cache if "eval_with_key" in name]),
        "graphs": len(torch.fx.graph_module._loader.eval_cache),
    }


def _plain(value) -> str:
    return repr(sorted(value, key=str) if isinstance(value, (set, frozenset)) else value)


def run(verb, program, times: int = 1) -> dict:
    """Run one program as in a new process."""
    dynamo.reset()
    counters.clear()
    dynamo.utils._compilation_metrics.clear()
    linecache.clearcache()
    torch.fx.graph_module._loader.eval_cache.clear()
    gc.collect()
    weakref.finalize._registry.clear()
    random.seed(7)
    torch.manual_seed(7)
    user = User(verb, times)
    with helpers.watching_breaks() if verb is watching_breaks else contextlib.nullcontext():
        program(user)
    gc.collect()
    return state(user)


def plain(fn, *args, **kwargs):
    """Call what a verb would watch."""
    return fn(*args, **kwargs)


def watching_breaks(fn, *args, **kwargs):
    """Call it; the block is around the program."""
    return fn(*args, **kwargs)


def watch_fixes(fn, *args, **kwargs):
    """Compare it with itself."""
    return helpers.watch_fixes({"it": (fn, fn)}, *args)


def main(times: int, names: list[str]) -> dict:
    """Return program -> what it could feel, with the verbs by turns."""
    told, verbs = {}, [globals().get(name) or getattr(helpers, name) for name in names]
    run(plain, PROGRAMS["plain_function"])  # what torch does once
    for number, (name, program) in enumerate(PROGRAMS.items()):
        told[name] = run(verbs[number % len(verbs)], program, times)
    return told


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), sys.argv[2:])))
