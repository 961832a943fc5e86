"""Pieces of odd programs: definitions for a module, and lines for the body of its function.

Each piece is text: what stands before a line `--` goes into the module, the rest into the body,
where `n` is a small int and `total` an int. `HARMLESS` can stand anywhere; `ENDINGS` end a body.
"""

PLAIN = """
total += sum(i * i for i in range(n))
==
x, *rest = [n, n + 1, n + 2]; total += len(rest) + x
==
for i, c in enumerate("abc"):
    total += i if c != "b" else -i
else:
    total += 1
==
try:
    {}["missing"]
except KeyError as error:
    total += len(error.args)
finally:
    total += 1
==
match [n, {"k": (1, 2)}]:
    case [int(a), {"k": (b, *_)}] if a >= 0:
        total += a + b
    case _:
        total -= 1
==
def inner(step=n):
    nonlocal total
    total += step
inner(); inner(step=2)
--
==
with contextlib.suppress(ValueError), io.StringIO() as out:
    out.write(f"{n!r:>{n + 4}} {n:{'+'}d}")
    raise ValueError("suppressed")
==
total += (lambda *a, k=n, **more: len(a) + k + len(more))(1, 2, x=3)
==
while n > 0 and (left := n - 1) >= 0:
    n = left
    if n == 1:
        continue
==
a = b = []; a.append(b); total += len(a) + (a in [None])
==
import string, fractions as fr
total += int(fr.Fraction(n, 1)) + len(string.digits)
==
global SEEN
SEEN = [n]; del SEEN[:]; SEEN += [total]
==
del total
total = locals().get("total", 5)
==
try:
    raise ExceptionGroup("many", [ValueError(1), TypeError(2)])
except* ValueError:
    total += 1
except* TypeError:
    total += 2
==
assert n >= 0, "never"; total += 1 < n + 2 < 10 < 100
==
class Inner:
    sizes = [i for i in range(3)]
    class Deeper:
        def __len__(self): return 3
        @property
        def way(self): return __class__.__name__
    __slots__ = ("a",)
total += len(Inner.Deeper()) + len(Inner.Deeper().way) + len(Inner.sizes)
==
total += sum(x + y for x in range(n) for y in (1, 2) if x != y)
==
k = [*range(n), *{1, 2}]; d = {**{"a": 1}, "b": k}; total += len(d) + k[::-1][0]
"""

CALLBACKS = """
total += sorted([3, 1, 2], key=lambda x: -x)[0]
==
total += sum(map(lambda x: x + 1, filter(lambda x: x % 2, range(n + 3))))
==
total += functools.reduce(lambda a, b: a + b, range(n), 0)
==
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
@CALLBACK
def from_c(x):
    return x + 1
--
total += from_c(n)
==
COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
--
numbers = (ctypes.c_int * 4)(4, 2, 3, 1)
ctypes.CDLL(None).qsort(numbers, 4, 4, COMPARE(lambda a, b: a[0] - b[0])); total += numbers[0]
==
CALLBACK2 = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
@CALLBACK2
def raising(x):
    raise ValueError("in a callback from C")
--
raising(n)
==
total += [1, 2].index(2) + sorted([2, 1], key=functools.cmp_to_key(lambda a, b: a - b))[0]
==
class Dies:
    def __del__(self):
        GONE.append([len(GONE)])
GONE = []
--
Dies(); thing = Dies(); thing.cycle = thing; del thing; gc.collect(); total += len(GONE)
==
class Weak: pass
--
weak = Weak(); held = weakref.ref(weak, lambda ref: KEPT.append(1)); del weak
==
total += int(re.sub(r"\\d", lambda m: str(int(m[0]) % 9 + 1), "123"))
==
total += len(json.dumps({"a": object}, default=lambda x: [1, 2]))
==
total += next(iter(lambda: 3, 4))
==
class Everything:
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
    def __getitem__(self, key): return self
    def __eq__(self, other): return [self]
    __hash__ = None
--
all_ = Everything(); all_.a.b(1)[2].c; same = all_ == all_
==
class Counted:
    def __eq__(self, other): KEPT.append(1); return True
    def __hash__(self): return 1
    def __bool__(self): KEPT.append(2); return True
    def __index__(self): return 2
    def __format__(self, spec): return "x" * 3
    def __lt__(self, other): return False
--
c = Counted(); total += len({c: 1, Counted(): 2}) + [1, 2, 3][c] + len(f"{c:>9}"); max(c, c)
==
class Meta(type):
    def __call__(cls, *a): return super().__call__(*a)
    def __instancecheck__(cls, x): return True
    @classmethod
    def __prepare__(meta, name, bases, **k): return {"prepared": name}
class Made(metaclass=Meta):
    def __init_subclass__(cls, **k): KEPT.append(cls.__name__)
    def __set_name__(self, owner, name): KEPT.append(name)
--
class Sub(Made): field = Made()
total += isinstance(3, Made) + len(Sub.prepared)
==
total += pickle.loads(pickle.dumps(n)) + copy.deepcopy([n])[0]
==
class Missing(dict):
    def __missing__(self, key): self[key] = len(self); return self[key]
--
d = Missing(); total += d["a"] + d["b"] + d["a"]
==
class Context:
    def __enter__(self): return self
    def __exit__(self, *info): return True
--
with Context() as one, Context(): raise KeyError(one)
==
class Raises:
    def __repr__(self): raise ZeroDivisionError("repr")
    __str__ = __repr__
    def __del__(self): raise ValueError("del")
--
odd = [Raises(), {1: Raises()}]
==
class BadError(Exception):
    def __str__(self): raise KeyError("str")
    def add_note(self, note): raise KeyError
--
try:
    raise BadError(n)
except BadError as error:
    error.__cause__ = error; error.__context__ = error
"""

DEEP = """
def rec(n):
    return 0 if n <= 0 else 1 + rec(n - 1)
--
total += rec(n * 20)
==
def rec0(n):
    return 0 if n <= 0 else 1 + rec0(n - 1)
--
try:
    rec0(10**6)
except RecursionError:
    total += 1
==
def rec1(n):
    return 0 if n <= 0 else 1 + rec1(n - 1)
--
sys.setrecursionlimit(10**6); total += rec1(30_000)
==
def rec2(n):
    return 0 if n <= 0 else 1 + rec2(n - 1)
def in_thread(n):
    sys.setrecursionlimit(10**6); KEPT.append(rec2(n))
--
t = threading.Thread(target=in_thread, args=(20_000,)); t.start(); t.join()
==
def rec3(n):
    return 0 if n <= 0 else 1 + rec3(n - 1)
--
sys.setrecursionlimit(10**5); old = threading.stack_size(256 * 1024)
t = threading.Thread(target=rec3, args=(5000,)); t.start(); t.join(); threading.stack_size(old)
==
def mapped(n):
    return n and 1 + next(map(mapped, [n - 1]))
--
total += mapped(100)
==
def mapped0(n):
    return n and 1 + next(map(mapped0, [n - 1]))
--
sys.setrecursionlimit(5000); total += mapped0(3000)
==
class Attr:
    def __getattr__(self, name): return getattr(self, name + "x") if len(name) < 900 else 1
--
try:
    total += Attr().x
except RecursionError:
    total += 2
==
class Shows:
    def __repr__(self): return repr([self])
--
try:
    repr(Shows())
except RecursionError:
    total += 2
==
def gens(n):
    yield n
    if n: yield from gens(n - 1)
--
total += sum(gens(n * 30))
==
def gens0(n):
    yield n
    if n: yield from gens0(n - 1)
--
sys.setrecursionlimit(4000); total += sum(gens0(700))
==
nest = []
for _ in range(3000): nest = [nest]
total += len(nest)
==
async def wait(n): return n and 1 + await wait(n - 1)
--
try:
    wait(200).send(None)
except StopIteration as stop:
    total += stop.value
==
depth, frame = 0, sys._getframe()
while frame: depth, frame = depth + 1, frame.f_back
sys.setrecursionlimit(depth + 60)
==
def down():
    try:
        return down()
    except RecursionError:
        return len(repr([[1]])) + len(json.dumps([1]))
--
total += down()
"""

THREADS = """
t = threading.Thread(target=print, args=("from a thread",)); t.start(); t.join()
==
def spin(stop):
    while not stop.wait(0.001): KEPT.append(0); KEPT.clear()
--
stop = threading.Event(); t = threading.Thread(target=spin, args=(stop,)); t.start()
total += sum(range(50)); stop.set(); t.join()
==
t = threading.Thread(target=sys.exit); t.start(); t.join()
==
from concurrent.futures import ThreadPoolExecutor
--
with ThreadPoolExecutor(2) as pool: total += sum(pool.map(len, ["a", "bc"]))
==
lock = threading.RLock()
with lock: t = threading.Timer(0.001, KEPT.append, (1,)); t.start(); t.join()
==
local = threading.local(); local.x = n; total += local.x
==
def mutate(thing, stop):
    while not stop.is_set(): thing[len(thing) % 50] = {}; thing.pop(0, 0)
--
stop, shared = threading.Event(), {}
t = threading.Thread(target=mutate, args=(shared, stop)); t.start()
for _ in range(20): total += len(shared)
stop.set(); t.join()
==
t = threading.Thread(target=time.sleep, args=(0.2,), daemon=True); t.start()
==
def excepts(): raise ValueError("in a thread")
--
t = threading.Thread(target=excepts); t.start(); t.join()
"""

GENERATORS = """
def gen(n):
    try:
        got = yield n
        yield got
    finally:
        KEPT.append(1)
--
g = gen(n); total += next(g) + g.send(2); g.close()
==
def stubborn():
    while True:
        try: yield 1
        except GeneratorExit: yield 2
--
g = stubborn(); next(g)
try:
    g.close()
except RuntimeError:
    total += 1
==
def gen2(n):
    try: yield n
    except ValueError: yield 7
--
g = gen2(n); next(g); total += g.throw(ValueError("x")); KEPT.append(g)
==
async def agen():
    try:
        yield 1
        yield 2
    finally:
        KEPT.append(3)
async def drive():
    return [x async for x in agen()]
--
try:
    drive().send(None)
except StopIteration as stop:
    total += len(stop.value)
==
async def agen2():
    yield 1
--
a = agen2(); a.__anext__()
==
async def never(): pass
--
never()
==
import asyncio
async def main(n):
    await asyncio.sleep(0)
    return (await asyncio.gather(asyncio.sleep(0, n), asyncio.sleep(0, 1)))[0]
--
total += asyncio.run(main(n))
==
g = (x for x in [1, 2, 3]); next(g); total += g.gi_frame.f_locals["x"]; KEPT.append(g.gi_frame)
==
class Await:
    def __await__(self): yield "suspended"; return 7
async def waits(): return await Await()
--
c = waits(); c.send(None)
try:
    c.send(None)
except StopIteration as stop:
    total += stop.value
==
def selfish():
    try: next(ME[0])
    except ValueError: yield 1
ME = []
--
ME.append(selfish()); total += next(ME[0])
"""

TRACERS = """
sys.settrace(None)
==
sys.settrace(lambda *event: None)
==
def tracer(frame, event, arg): return tracer
--
sys.settrace(tracer); total += len("abc"); sys.settrace(None)
==
sys.setprofile(None)
==
sys.setprofile(lambda frame, event, arg: None)
==
threading.settrace(lambda *event: None)
==
def bad_tracer(frame, event, arg): raise ValueError("in a tracer")
--
try:
    sys.settrace(bad_tracer); len("abc"); total += (lambda: 1)()
except ValueError:
    total += 1
==
sys._getframe().f_trace = lambda *event: None
==
sys._getframe().f_trace_opcodes = True; sys._getframe().f_trace_lines = False
==
if hasattr(sys, "monitoring"):
    sys.monitoring.use_tool_id(3, "odd")
    sys.monitoring.set_events(3, sys.monitoring.events.LINE)
==
old = sys.gettrace(); sys.settrace(None); total += 1; sys.settrace(old)
==
def jumper(frame, event, arg):
    frame.f_trace_opcodes = True
    return jumper
--
sys.settrace(jumper); total += 1
"""

OUTPUT = """
print("words", n)
==
print("\\x1b[31mred\\0 \\u202e <script>alert(1)</script>")
==
print("x" * 200_000)
==
for i in range(300): print(i)
==
sys.stdout.close()
==
sys.stdout = None
==
sys.stdout = io.StringIO()
==
sys.stderr = None
==
sys.stderr.close()
==
os.close(1)
==
os.close(0)
==
sys.stdout = type("Out", (), {"write": lambda self, words: 1 / 0, "flush": lambda self: 1 / 0})()
==
with contextlib.redirect_stdout(io.StringIO()): print("away")
==
sys.stdin = None
==
sys.displayhook = None; sys.excepthook = None
==
os.write(1, b"raw bytes \\xff\\n"); os.write(2, b"raw errors\\n")
==
warnings.warn("careful")
==
warnings.simplefilter("error")
==
warnings.simplefilter("error"); warnings.warn("an error")
==
import logging
--
logging.basicConfig(); logging.getLogger("odd").warning("logged %s", n)
"""

STATE = """
gc.disable(); gc.collect()
==
gc.callbacks.append(lambda *a: KEPT.append(1)); gc.collect(); gc.callbacks.clear()
==
gc.set_threshold(1)
==
pid = os.fork()
if not pid: os._exit(0)
os.waitpid(pid, 0)
==
signal.signal(signal.SIGUSR1, lambda *a: KEPT.append(1)); signal.raise_signal(signal.SIGUSR1)
signal.signal(signal.SIGUSR1, signal.SIG_DFL)
==
signal.raise_signal(signal.SIGINT)
==
before = signal.signal(signal.SIGINT, lambda *a: KEPT.append(1)); signal.raise_signal(signal.SIGINT)
signal.signal(signal.SIGINT, before)
==
KEPT.append(sys._getframe()); KEPT.append(sys._getframe().f_back)
==
KEPT.append(sys._getframe().f_locals); locals()["total"] = 99; sys._getframe().f_locals["new"] = 1
==
import inspect, traceback
KEPT.append(inspect.stack()[0].function); traceback.extract_stack()
==
del globals()["KEPT"]
==
globals()["extra"] = n; globals().pop("extra")
==
big = 10 ** 5000; words = "w" * 10 ** 6; total += len(words) + (big > 1)
==
many = {i: [i] for i in range(20_000)}; names = {f"name {i}": i for i in range(500)}
==
exec("made = lambda x: x + 1", globals()); total += made(n)
==
total += eval("sum(x for x in range(4))")
==
space = {}; exec(compile("def f(x):\\n    return x * 2\\n", "<nowhere>", "exec"), space)
total += space["f"](n)
==
def host(x): return x
def guest(x): y = x; return y + 1
--
host.__code__ = guest.__code__; total += host(1)
==
def consts(): return "constant"
--
consts.__code__ = consts.__code__.replace(co_consts=(None, [1, 2])); consts()
==
def linetable(): return 3
--
linetable.__code__ = linetable.__code__.replace(co_linetable=b""); total += linetable()
==
def named(): return 4
--
odd_names = dict(co_name="<b>\\x1b[0m", co_filename="\\0odd", co_firstlineno=-5)
named.__code__ = named.__code__.replace(**odd_names)
total += named()
==
me = sys._getframe().f_code; KEPT.append(me.replace(co_name="other"))
==
builtins.extra_builtin = 3; total += extra_builtin; del builtins.extra_builtin
==
builtins.sum, old = max, builtins.sum; total += sum([1, 2]); builtins.sum = old
==
builtins.left_behind = n
==
os.environ["ODD"] = "1"; os.environ.pop("ODD")
==
here = os.getcwd(); os.chdir("/"); os.chdir(here)
==
a, b = socket.socketpair(); a.close(); b.close()
==
f = tempfile.TemporaryFile(); f.write(b"x"); f.close()
==
sys.modules["odd_module"] = None; sys.modules.pop("odd_module")
==
weak = weakref.WeakValueDictionary(); d = contextvars.ContextVar("odd"); d.set(n)
==
sys.setswitchinterval(1e-6)
==
loop = []; loop.append(loop); d = {}; d[1] = d; t = (loop, d); loop.append(t)
==
try:
    raise ValueError("kept")
except ValueError as error:
    KEPT.append(error); error.__traceback__.tb_frame.f_locals["error"] = error
==
x = memoryview(bytearray(10)); x.release()
==
random.seed(1); total += random.randrange(3); decimal.getcontext().prec = 5
==
fn_again = types.FunctionType(sys._getframe().f_code, {"__builtins__": {}})
==
sys.unraisablehook = lambda *a: None
==
ctypes.pythonapi.PyErr_SetInterrupt()
"""

ENDINGS = """
return total
==
return total
==
return total
==
raise ValueError("on purpose")
==
sys.exit(3)
==
sys.exit("<b>words\\x1b[0m\\nof many lines")
==
raise KeyboardInterrupt
==
raise GeneratorExit
==
raise StopIteration(n)
==
class Own(BaseException): pass
raise Own("base")
==
try:
    raise ValueError
finally:
    return total
==
try:
    raise ValueError("first")
finally:
    raise KeyError("second")
==
raise BadError2(n)
--
==
return sys._getframe()
==
return locals()
==
return "\\ud800\\x1b[31m" * 100
==
try:
    1 / 0
except ZeroDivisionError as error:
    error.__traceback__ = None
    raise
==
raise RecursionError("not really")
==
raise MemoryError
==
error = OSError(2, "gone"); error.__cause__ = error; raise error
==
os.close(2); raise ValueError("with no stderr")
==
return fn
==
return (i for i in range(3))
==
unknown_name
==
raise ExceptionGroup("g", [ValueError(), ExceptionGroup("h", [KeyError(1)])])
==
raise type("Bad\\x1b<b>", (Exception,), {"__str__": lambda self: 1 / 0})()
"""


def pieces(text: str) -> list[tuple[str, str]]:
    """Return (definitions, body) of every piece in a text."""
    found = []
    for piece in text.split("\n==\n"):
        first, mark, last = piece.strip("\n").partition("\n--\n")
        found.append((first, last) if mark else ("", first.removesuffix("\n--")))
    return found


KINDS = {
    "plain": pieces(PLAIN),
    "callbacks": pieces(CALLBACKS),
    "deep": pieces(DEEP),
    "threads": pieces(THREADS),
    "generators": pieces(GENERATORS),
    "tracers": pieces(TRACERS),
    "output": pieces(OUTPUT),
    "state": pieces(STATE),
}
LAST = pieces(ENDINGS)
