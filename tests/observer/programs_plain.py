"""Programs in plain Python."""

import asyncio
import contextlib
import contextvars
import dataclasses
import functools
import gc
import logging
import random
import sys
import threading
import time
import types
import warnings
import weakref

from tests.observer.cases import Case, program

RATE = 2
LEVEL = contextvars.ContextVar("LEVEL", default=0)


class Box:
    """An object that can be referred to weakly."""

    def __init__(self, value=0):
        self.value = value

    def grow(self, by=1):
        """Add to the value."""
        self.value += by
        return self.value


@program("once")
def closure():
    count = 0

    def step(by, *, twice=False):
        nonlocal count
        count += by * (2 if twice else 1)
        return count

    return Case(step, (3,), {"twice": True}, {"again": lambda: step(1), "count": lambda: count})


@program()
def global_names():
    def scaled(x):
        return x * RATE

    return Case(scaled, (4,), probes={"again": lambda: scaled(5), "rate": lambda: RATE})


@program()
def raising():
    def inner(x):
        return 1 / x

    def outer(x):
        try:
            return inner(x)
        except ZeroDivisionError as error:
            raise ValueError("no inverse") from error

    return Case(outer, (0,), probes={"well": lambda: outer(2), "ill": lambda: outer(0)})


@program()
def error_in_its_own_frame():
    alive = []

    def keep(error):
        big = Box(1)
        alive[:] = [weakref.ref(big)]
        try:
            raise KeyError("kept")
        except KeyError as raised:
            error = raised
        return len(error.args) + big.value

    keep(None)
    return Case(
        keep,
        (None,),
        weak={"big": lambda: alive[0]()},
        probes={"collected": lambda: gc.collect() > 0},
    )


@program("cycle")
def cycle_without_collector():
    gc.disable()
    one, other = Box(), Box()
    one.other, other.other = other, one
    reference = weakref.ref(one)
    del one, other

    def look():
        found = reference()
        return found is not None and found.value

    return Case(look, weak={"one": reference}, probes={"enabled": gc.isenabled, "still": look})


@program("once")
def half_consumed_generator():
    def count():
        received = 0
        for number in range(100):
            received = yield number + (received or 0)

    numbers = count()
    next(numbers)

    def take(n):
        return [next(numbers) for _ in range(n)]

    probes = {
        "next": lambda: next(numbers),
        "send": lambda: numbers.send(5),
        "close": numbers.close,
    }
    return Case(take, (3,), probes=probes)


@program()
def generator_function():
    def count(n):
        try:
            yield from range(n)
        finally:
            logging.getLogger("program").warning("closed")

    return Case(
        count, (4,), probes={"all": lambda: list(count(3)), "first": lambda: next(count(3))}
    )


@program()
def deleted_object():
    deaths = []

    class Mortal:
        def __del__(self):
            deaths.append(sys._getframe().f_code.co_name)

    def make(n):
        found = [Mortal() for _ in range(n)]
        return len(found), len(deaths)

    make(1)
    return Case(lambda: make(2)[0], probes={"grow": lambda: make(1)[0]})


@program()
def weak_values():
    table = weakref.WeakValueDictionary()
    kept = Box(3)
    table["kept"] = kept

    def look():
        table["lost"] = Box(4)
        return sorted(table)

    probes = {"again": look, "number": lambda: len(table), "value": lambda: kept.value}
    return Case(look, probes=probes, weak={"kept": weakref.ref(kept)})


@program()
def thread():
    local = threading.local()
    local.name = "main"

    def work(n):
        found = []

        def inside():
            found.append(getattr(local, "name", "none") + str(sum(range(n))))

        worker = threading.Thread(target=inside, name="worker")
        worker.start()
        worker.join()
        return found, local.name

    return Case(work, (5,), probes={"again": lambda: work(6)})


@program()
def context_variable():
    LEVEL.set(1)

    def deeper():
        token = LEVEL.set(LEVEL.get() + 1)
        try:
            return LEVEL.get(), contextvars.copy_context()[LEVEL]
        finally:
            LEVEL.reset(token)

    return Case(deeper, probes={"level": LEVEL.get, "again": deeper})


@program()
def written_locals():
    def write():
        a = 1
        names = sys._getframe().f_locals
        names["a"] = 2
        return names["a"], a

    return Case(write, probes={"again": write})


@program()
def locals_and_exec():
    def write(x):
        names = locals()
        exec("y = x + 1", globals(), names)
        return sorted(names), eval("x * 2"), names["y"]

    return Case(write, (3,), probes={"again": lambda: write(4)})


@program("once tracer")
def own_tracer():
    events = []

    def tracer(frame, event, arg):
        if frame.f_code.co_name == "traced":
            events.append(event)
            return tracer
        return None

    def traced(x):
        y = x + 1
        return y

    def run(x):
        before = sys.gettrace()
        sys.settrace(tracer)
        try:
            return traced(x)
        finally:
            sys.settrace(before)

    return Case(run, (1,), probes={"events": lambda: events[-4:], "again": lambda: run(2)})


@program()
def installed_profiler():
    seen = []

    def profiler(frame, event, arg):
        if frame.f_code.co_name == "profiled":
            seen.append(event)

    def profiled(x):
        return x + 1

    sys.setprofile(profiler)
    return Case(
        profiled,
        (1,),
        probes={
            "there": lambda: sys.getprofile() is profiler,
            "seen": lambda: (seen.clear(), profiled(2), seen[:])[2],
        },
    )


@program()
def own_filters():
    warnings.filterwarnings("error", message="never")
    warnings.filterwarnings("default", category=UserWarning)

    def warn(words):
        warnings.warn(words, UserWarning, stacklevel=1)
        return words

    return Case(
        warn,
        ("once here",),
        probes={"again": lambda: warn("once here"), "raise": lambda: warn("never")},
    )


@program()
def context_managers():
    entered = []

    @contextlib.contextmanager
    def block(name):
        entered.append(name)
        try:
            yield name
        finally:
            entered.pop()

    def run():
        with contextlib.ExitStack() as stack, contextlib.suppress(KeyError):
            names = [stack.enter_context(block(name)) for name in "abc"]
            raise KeyError(names)
        return len(entered)

    return Case(run, probes={"again": run, "open": lambda: entered})


@program()
def coroutine():
    async def child(n):
        await asyncio.sleep(0)
        return n * 2

    async def parent():
        return await asyncio.gather(*(child(n) for n in range(3)))

    def run():
        return asyncio.run(parent())

    return Case(run, probes={"again": run})


@program()
def recursion():
    def depth(n):
        return 0 if n == 0 else 1 + depth(n - 1)

    def deepest():
        try:
            return depth(5000)
        except RecursionError:
            return "too deep"

    return Case(depth, (5,), probes={"deepest": deepest, "ten": lambda: depth(10)})


@program()
def monkeypatched():
    def area(box):
        return box.grow(0)

    class Small(Box):
        pass

    Small.grow = lambda self, by=1: -1
    thing = Small(3)
    thing.area = types.MethodType(area, thing)
    probes = {"again": lambda: thing.area(), "class": lambda: sorted(vars(Small))}
    return Case(thing.area, probes=probes, objects={"Small": Small, "thing": thing})


@program("once any")
def cached():
    @functools.lru_cache(maxsize=2)
    def slow(n):
        return n * n

    slow(1)
    probes = {
        "info": lambda: str(slow.cache_info()),
        "hit": lambda: slow(1),
        "new": lambda: slow(9),
    }
    return Case(slow, (2,), probes=probes)


@program()
def own_collector_callback():
    heard = []

    def callback(phase, info):
        heard.append(phase)

    gc.callbacks.append(callback)
    gc.set_threshold(100_000, 5, 5)

    def make(n):
        return len([[] for _ in range(n)])

    probes = {
        "heard": lambda: len(heard) // 2,
        "there": lambda: callback in gc.callbacks,
        "again": lambda: make(3),
    }
    return Case(make, (5,), probes=probes)


@program()
def decorated():
    calls = []

    def logged(fn):
        @functools.wraps(fn)
        def wrapper(*args, **kwargs):
            calls.append(fn.__name__)
            return fn(*args, **kwargs)

        wrapper.calls = calls
        return wrapper

    @logged
    def double(x: int = 1, *more, key=2) -> int:
        """Double."""
        return x * key

    return Case(
        double, (3,), probes={"again": lambda: double(4, key=3), "last": lambda: calls[-1:]}
    )


@program()
def callback_from_c():
    def key(one):
        return -one.value

    def order():
        boxes = sorted([Box(1), Box(3), Box(2)], key=key)
        return [box.value for box in boxes], functools.reduce(lambda a, b: a * b, [1, 2, 3])

    return Case(order, probes={"again": order})


@program()
def descriptors():
    class Positive:
        def __set_name__(self, owner, name):
            self.name = f"_{name}"

        def __get__(self, instance, owner=None):
            return self if instance is None else getattr(instance, self.name)

        def __set__(self, instance, value):
            if value < 0:
                raise ValueError("negative")
            setattr(instance, self.name, value)

    class Account:
        balance = Positive()

        @property
        def rounded(self):
            return round(self.balance)

        def add(self, amount):
            self.balance = abs(amount)
            return self.rounded

    mine = Account()
    probes = {"ill": lambda: setattr(mine, "balance", -1), "well": lambda: mine.add(2.6)}
    return Case(mine.add, (1.4,), probes=probes, objects={"mine": mine, "class": Account})


@program("once")
def draws_random_numbers():
    random.seed(5)

    def draw(n):
        return [random.randrange(100) for _ in range(n)]

    return Case(draw, (3,), probes={"next": lambda: random.random(), "again": lambda: draw(2)})


@program()
def prints_and_logs():
    def speak(name):
        print("hello", name)
        print("to stderr", file=sys.stderr)
        logging.getLogger("program").warning("logged %s", name)
        return len(name)

    return Case(speak, ("you",), probes={"again": lambda: speak("me")})


@program()
def dataclass_and_keywords():
    @dataclasses.dataclass
    class Point:
        x: int
        y: int = 0

    def move(point, /, *steps, by=1, **more):
        return Point(point.x + by * len(steps), point.y + sum(more.values()))

    def run(*args, **kwargs):
        moved = move(*args, **kwargs)
        return moved.x, moved.y

    return Case(run, (Point(1), 2, 3), {"by": 2, "up": 4}, {"again": lambda: run(Point(2))})


@program()
def looks_at_its_frame():
    def look():
        frame = sys._getframe()
        return frame.f_code.co_name, frame.f_back is not None, sorted(frame.f_locals)

    return Case(look, probes={"again": look})


@program()
def mutated_default():
    def collect(item, found=[], *, known={"a": 1}):  # noqa: B006
        return [*found, item], dict(known)

    return Case(
        collect,
        (1,),
        probes={"again": lambda: collect(2), "defaults": lambda: collect.__defaults__},
    )


@program("once")
def appends_to_a_global():
    items = LOG

    def append(item):
        items.append(item)
        return len(items)

    return Case(append, (1,), probes={"again": lambda: append(2), "log": lambda: LOG[-2:]})


LOG = [0]


@program()
def warns_once():
    warnings.simplefilter("default")

    def warn():
        warnings.warn("told once", DeprecationWarning, stacklevel=1)

    warn()
    return Case(warn, probes={"quiet": warn})


@program()
def changed_streams():
    class Loud:
        def __init__(self, stream):
            self.stream = stream

        def write(self, text):
            return self.stream.write(text.upper())

        def __getattr__(self, name):
            return getattr(self.stream, name)

    sys.stdout = loud = Loud(sys.stdout)

    def speak():
        print("soft")
        return sys.stdout is loud

    return Case(speak, probes={"again": speak, "there": lambda: sys.stdout is loud})


@program()
def metaclass_and_slots():
    class Meta(type):
        made = 0

        def __call__(cls, *args):
            Meta.made += 1
            return super().__call__(*args)

    class Slotted(metaclass=Meta):
        __slots__ = ("__weakref__", "value")

        def __init__(self, value):
            self.value = value

    def make():
        return Slotted(3).value

    return Case(make, probes={"again": make, "slots": lambda: Slotted.__slots__})


@program("once")
def resumable_exception():
    errors = []

    def fail():
        errors.append(len(errors))
        if len(errors) % 2:
            raise RuntimeError(f"number {len(errors)}")
        return errors[-1]

    def attempt():
        try:
            return fail()
        except RuntimeError as error:
            return str(error), sys.exc_info()[0].__name__

    return Case(attempt, probes={"outside": lambda: str(sys.exc_info()[1]), "next": attempt})


@program("any once")
def callable_object():
    class Counter:
        def __init__(self):
            self.calls = 0

        def __call__(self, x):
            self.calls += 1
            return x + self.calls

    counter = Counter()
    return Case(
        counter, (1,), probes={"again": lambda: counter(1)}, weak={"counter": weakref.ref(counter)}
    )


@program()
def method_of_weak_object():
    box = Box(1)
    probes = {"alive": lambda: box.value, "dies": lambda: [box.value, weakref.ref(Box())() is None]}
    method = box.grow
    return Case(method, (0,), probes=probes, weak={"box": weakref.ref(box)}, objects={"box": box})


@program()
def timer():
    def wait():
        began = time.perf_counter()
        return time.perf_counter() >= began

    return Case(wait, probes={"again": wait})


@program()
def group_of_errors_with_notes():
    def call(x):
        try:
            raise ExceptionGroup("several", [ValueError(x), ExceptionGroup("in", [KeyError(x)])])
        except* KeyError as group:
            group.add_note("a note")
            raise

    return Case(call, (1,))


@program("once")
def descriptor_and_metaclass():
    asked = []

    class Meta(type):
        def __call__(cls, *args):
            asked.append("made")
            return super().__call__(*args)

        def __eq__(cls, other):
            asked.append("compared")
            return cls is other

        __hash__ = type.__hash__

    class Field:
        def __get__(self, one, kind):
            asked.append("read")
            return 3

    class Row(metaclass=Meta):
        field = Field()

    def call(x):
        row = Row()
        return row.field + x

    return Case(call, (1,), probes={"asked": lambda: [*asked]}, objects={"asked": asked})


@program("once")
def list_that_the_program_shrinks():
    def helper(x):
        return x

    held = [helper, helper, 1]

    def call(x):
        held.pop(0)
        return held[0](x)

    return Case(call, (1,), probes={"held": lambda: held[0] is helper}, objects={"held": held})
