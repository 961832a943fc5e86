"""Hostile objects, each made afresh: to be looked at by a verb, or in place of its arguments.

`make(name)` gives one. Their methods note in `RAN` that they ran: looking must not run them.
"""

import collections
import enum
import sys
import types
import weakref

RAN: list[str] = []
MARKUP = "<script>alert(1)</script><b onmouseover='x'>&amp;\"'`</b>"
ODD = "\x1b[31mred\x1b[0m \u202egnirts\u202c \ud800 \0 \x07 \x9b31m \u2028 \ufeff end"
DUNDERS = [
    "__repr__",
    "__str__",
    "__bool__",
    "__len__",
    "__iter__",
    "__hash__",
    "__eq__",
    "__format__",
    "__call__",
    "__index__",
    "__int__",
    "__float__",
    "__contains__",
    "__getitem__",
    "__enter__",
    "__exit__",
    "__array__",
    "__bytes__",
    "__dir__",
    "__next__",
    "__lt__",
    "__fspath__",
    "__reduce__",
    "__reduce_ex__",
    "__copy__",
    "__deepcopy__",
    "__sizeof__",
    "__length_hint__",
    "__instancecheck__",
    "__tf_tracing_type__",
    "__torch_function__",
    "__torch_dispatch__",
    "__array_ufunc__",
    "__array_function__",
    "__array_interface__",
    "__await__",
    "__aiter__",
    "__add__",
    "__radd__",
    "__neg__",
]
MAKERS = {}


def make(name: str):
    """Return a fresh object of this name."""
    return MAKERS[name]()


def maker(function):
    """Register what makes one object."""
    MAKERS[function.__name__] = function
    return function


def noting(name, answer):
    """Return a method that notes that it ran, and then answers, or raises the answer."""

    def method(self, *args, **kwargs):
        RAN.append(name)
        if isinstance(answer, BaseException):
            raise answer
        return answer(self) if callable(answer) else answer

    method.__name__ = name
    return method


def kind(name, **methods):
    """Return a class with these methods, each of which notes that it ran."""
    return type(name, (), {key: noting(key, answer) for key, answer in methods.items()})


@maker
def every_method_raises():
    return kind("Raises", **{name: RuntimeError(name) for name in DUNDERS})()


@maker
def every_method_exits():
    return kind("Exits", **{name: SystemExit(3) for name in DUNDERS})()


@maker
def every_method_interrupts():
    return kind("Interrupts", **{name: RecursionError("deep") for name in DUNDERS})()


@maker
def repr_raises():
    return kind("Silent", __repr__=ZeroDivisionError("no words"))()


@maker
def repr_is_no_text():
    return kind("Numeric", __repr__=7, __str__=None)()


@maker
def repr_is_huge():
    return kind("Huge", __repr__=lambda self: "x" * 30_000_000)()


@maker
def repr_is_slow():
    def slowly(self):
        import time

        time.sleep(60)
        return "late"

    return kind("Slow", __repr__=slowly, __str__=slowly)()


@maker
def repr_is_markup():
    return kind("Markup", __repr__=lambda self: MARKUP)()


@maker
def repr_recurses():
    return kind("Endless", __repr__=lambda self: repr(self))()


@maker
def repr_prints():
    return kind("Loud", __repr__=lambda self: print("printed by a repr") or "loud")()


@maker
def equal_gives_array():
    import numpy

    return kind("Arrays", __eq__=lambda self: numpy.ones(3), __hash__=1)()


@maker
def equal_to_everything():
    return kind("Anything", __eq__=True, __hash__=0)()


@maker
def equal_raises_hash_raises():
    return kind("Neither", __eq__=TypeError("no =="), __hash__=TypeError("no hash"))()


@maker
def truth_is_ambiguous():
    return kind("Ambiguous", __bool__=ValueError("ambiguous"), __len__=ValueError("no length"))()


@maker
def lying_class():
    def lie(self):
        RAN.append("__class__")
        return types.FunctionType

    return type("Liar", (), {"__class__": property(lie)})()


@maker
def lying_class_of_dict():
    return type("DictLiar", (), {"__class__": property(lambda self: dict)})()


@maker
def lying_class_of_tuple():
    return type("TupleLiar", (), {"__class__": property(lambda self: tuple)})()


@maker
def raising_class():
    def refuse(self):
        raise RuntimeError("no class")

    return type("NoClass", (), {"__class__": property(refuse)})()


@maker
def getattr_makes_everything():
    class Everything:
        def __getattr__(self, name):
            RAN.append("__getattr__")
            return Everything()

        def __call__(self, *args, **kwargs):
            RAN.append("__call__")
            return Everything()

    return Everything()


@maker
def getattribute_raises():
    class Closed:
        def __getattribute__(self, name):
            RAN.append("__getattribute__")
            raise RuntimeError(f"no {name}")

    return Closed()


@maker
def getattr_raises_other():
    class Odd:
        def __getattr__(self, name):
            RAN.append("__getattr__")
            raise KeyError(name)

    return Odd()


@maker
def getattr_recurses():
    class Deep:
        def __getattr__(self, name):
            return getattr(self, name + "x")

    return Deep()


@maker
def raising_metaclass():
    class Meta(type):
        def __getattribute__(cls, name):
            RAN.append("Meta.__getattribute__")
            raise RuntimeError(f"no {name}")

        def __instancecheck__(cls, thing):
            raise RuntimeError("no instances")

        def __repr__(cls):
            raise RuntimeError("no words")

    return Meta("Raw", (), {})


@maker
def instance_of_raising_metaclass():
    return type.__call__(raising_metaclass())


@maker
def metaclass_with_odd_names():
    class Meta(type):
        __module__ = property(lambda cls: 1 / 0)
        __name__ = property(lambda cls: 1 / 0)
        __doc__ = property(lambda cls: 1 / 0)

    return Meta(f"Odd{MARKUP}", (), {})


@maker
def class_named_oddly():
    return type("\x1b[31mRed \u202eder " + "N" * 100_000, (), {})()


@maker
def class_without_module():
    made = type("Nowhere", (), {})
    made.__module__ = None
    return made()


@maker
def weak_proxy():
    target = kind("Kept")()
    KEEP.append(target)
    return weakref.proxy(target)


KEEP = []


@maker
def dead_weak_proxy():
    return weakref.proxy(kind("Gone")())


@maker
def list_in_itself():
    made = []
    made.append(made)
    return made


@maker
def dict_in_itself():
    made = {}
    made["me"] = made
    return made


@maker
def deep_list():
    made = []
    for _ in range(100_000):
        made = [made]
    return made


@maker
def cycle_of_objects():
    one, other = types.SimpleNamespace(), types.SimpleNamespace()
    one.other, other.other = other, one
    return one


@maker
def million_items():
    return list(range(1_000_000))


@maker
def million_keys():
    return dict.fromkeys(range(1_000_000))


@maker
def huge_text():
    return MARKUP * 500_000


@maker
def odd_text():
    return ODD


@maker
def odd_bytes():
    return bytes(range(256)) * 4


@maker
def huge_number():
    return 10**50_000


@maker
def text_that_lies():
    class Text(str):
        def __repr__(self):
            RAN.append("str.__repr__")
            raise RuntimeError("no words")

        __str__ = __len__ = __iter__ = __eq__ = __format__ = __repr__
        __hash__ = str.__hash__

    return Text("text")


@maker
def number_that_lies():
    class Number(int):
        def __repr__(self):
            RAN.append("int.__repr__")
            raise RuntimeError("no words")

        __str__ = __index__ = __bool__ = __format__ = __repr__

    return Number(3)


@maker
def dict_that_lies():
    class Dict(dict):
        def __getitem__(self, key):
            RAN.append("dict.__getitem__")
            raise RuntimeError("nothing")

        items = keys = values = __iter__ = __len__ = __contains__ = get = __getitem__

    return Dict(a=1)


@maker
def list_that_lies():
    class List(list):
        def __iter__(self):
            RAN.append("list.__iter__")
            raise RuntimeError("nothing")

        __len__ = __getitem__ = __bool__ = __iter__

    return List([1])


@maker
def tuple_that_lies():
    class Tuple(tuple):
        def __iter__(self):
            RAN.append("tuple.__iter__")
            raise RuntimeError("nothing")

        __len__ = __getitem__ = __repr__ = __iter__

    return Tuple((1, 2))


@maker
def function_named_oddly():
    def function():
        return 1

    function.__name__ = f"{MARKUP}\x1b[31m" + "f" * 100_000
    function.__qualname__ = function.__name__
    function.__module__ = None
    function.__doc__ = MARKUP
    return function


@maker
def function_wrapped_in_itself():
    def function():
        return 1

    function.__wrapped__ = function
    return function


@maker
def function_with_odd_code():
    def function():
        return "\x1b"

    function.__code__ = function.__code__.replace(
        co_linetable=b"", co_filename="/dev/zero", co_name=f"{MARKUP}\0\x1b"
    )
    return function


@maker
def function_with_hostile_constant():
    def function():
        return None

    constants = (*function.__code__.co_consts, every_method_raises(), list_in_itself())
    function.__code__ = function.__code__.replace(co_consts=constants)
    return function


@maker
def callable_that_raises():
    return kind("Called", __call__=ArithmeticError("called"))()


@maker
def callable_that_exits():
    return kind("Leaves", __call__=SystemExit("bye"))()


@maker
def c_function():
    return len


@maker
def method_of_c_type():
    return str.join


@maker
def slot_wrapper():
    return object.__init__


@maker
def lazy_module():
    class Lazy(types.ModuleType):
        def __getattr__(self, name):
            RAN.append("module.__getattr__")
            raise ImportError(f"cannot load {name} now")

        def __dir__(self):
            RAN.append("module.__dir__")
            raise RuntimeError("no list")

    return Lazy("lazy")


@maker
def module_without_name():
    class Nameless(types.ModuleType):
        def __getattribute__(self, name):
            RAN.append("module.__getattribute__")
            if name == "__name__":
                raise RuntimeError("no name")
            return super().__getattribute__(name)

    return Nameless("nameless")


@maker
def endless_iterator():
    import itertools

    return itertools.count()


@maker
def endless_iterable():
    class Endless:
        def __iter__(self):
            RAN.append("__iter__")
            while True:
                yield self

        def __len__(self):
            return sys.maxsize

        def __getitem__(self, at):
            return self

    return Endless()


@maker
def running_generator():
    def generator():
        yield 1
        yield 2

    made = generator()
    next(made)
    return made


@maker
def coroutine_never_awaited():
    async def coroutine():
        return 1

    made = coroutine()
    KEEP.append(made)
    return made


@maker
def exception_that_lies():
    class Odd(Exception):
        def __str__(self):
            RAN.append("Exception.__str__")
            raise RuntimeError("no words")

        __repr__ = __str__

    return Odd("words")


@maker
def exception_with_cycle():
    one, other = ValueError("one"), KeyError("other")
    one.__cause__, other.__context__ = other, one
    return one


@maker
def enum_with_odd_repr():
    return enum.Enum("Odd", {"A": 1}, module=None).A


@maker
def namedtuple_with_odd_fields():
    return collections.namedtuple("Row", ["a", "b"])(MARKUP, ODD)


@maker
def descriptor_that_raises():
    class Raising:
        def __get__(self, thing, owner=None):
            RAN.append("__get__")
            raise RuntimeError("not to be read")

        __set__ = __delete__ = __get__

    names = ("__dict__", "__name__", "__code__", "__wrapped__", "__module__", "__doc__", "shape")
    return type("Described", (), {name: Raising() for name in names if name != "__dict__"})()


@maker
def slots_unset():
    return type("Slots", (), {"__slots__": ("a", "b")})()


@maker
def numpy_objects():
    import numpy

    made = numpy.empty(2, dtype=object)
    made[0], made[1] = repr_raises(), made
    return made


@maker
def numpy_odd_dtype():
    import numpy

    return numpy.zeros((0, 3), dtype=[("<b>", "f8"), ("y", "S3")])


@maker
def numpy_huge():
    import numpy

    return numpy.broadcast_to(numpy.float32(1), (10**6, 10**6))


@maker
def numpy_nan():
    import numpy

    return numpy.float64("nan")


@maker
def ellipsis():
    return NotImplemented


@maker
def nothing():
    return None


@maker
def frame():
    return sys._getframe()


@maker
def memory_view():
    made = memoryview(bytearray(8))
    made.release()
    return made


@maker
def mapping_proxy():
    return types.MappingProxyType({MARKUP: ODD})


@maker
def type_itself():
    return type


@maker
def property_object():
    return property(lambda self: 1 / 0)


@maker
def partial_of_itself():
    import functools

    made = functools.partial(print)
    made.__setstate__((made, (made,), {}, {}))
    return made


def torch_makers() -> dict:
    """Return name -> maker, of torch's own odd objects."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    class Raising(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            RAN.append("__torch_function__")
            raise RuntimeError("not to be touched")

    class Module(torch.nn.Module):
        def extra_repr(self):
            RAN.append("extra_repr")
            raise RuntimeError("no words")

        def __getattr__(self, name):
            raise RuntimeError(f"no {name}")

    return {
        "torch_raising_subclass": lambda: torch.ones(2).as_subclass(Raising),
        "torch_meta": lambda: torch.empty(10**6, 10**6, device="meta"),
        "torch_sparse": lambda: torch.eye(3).to_sparse(),
        "torch_quantized": lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8),
        "torch_fake": lambda: FakeTensorMode().from_tensor(torch.ones(2)),
        "torch_nested": lambda: torch.nested.nested_tensor([torch.ones(1), torch.ones(2)]),
        "torch_many_dims": lambda: torch.ones([1] * 60),
        "torch_empty": lambda: torch.ones(0, 3),
        "torch_inference": lambda: torch.inference_mode()(lambda: torch.ones(2))(),
        "torch_conjugate": lambda: torch.ones(2, dtype=torch.complex64).conj(),
        "torch_lazy_layer": lambda: torch.nn.LazyLinear(2),
        "torch_lazy_parameter": lambda: torch.nn.parameter.UninitializedParameter(),
        "torch_raising_module": lambda: Module.__new__(Module),
        "torch_script": lambda: torch.jit.script(torch.nn.Linear(1, 1)),
        "torch_generator": lambda: torch.Generator(),
        "torch_graph": lambda: torch.fx.Graph(),
        "torch_proxy": lambda: torch.fx.Tracer().proxy(torch.fx.Graph().placeholder("x")),
        "torch_op": lambda: torch.ops.aten.add.Tensor,
        "torch_compiled": lambda: torch.compile(lambda x: x, backend="eager"),
        "torch_nan": lambda: torch.tensor(float("nan")),
    }


def tensorflow_makers() -> dict:
    """Return name -> maker, of TensorFlow's own odd objects."""
    import tensorflow as tf

    def symbolic():
        with tf.Graph().as_default():
            return tf.constant(1.0) + 1.0

    def deleted():
        made = tf.Variable(1.0)
        made._handle = None
        return made

    class Raising:
        def __tf_tracing_type__(self, context):
            RAN.append("__tf_tracing_type__")
            raise RuntimeError("no type")

    class Module(tf.Module):
        def __getattr__(self, name):
            raise RuntimeError(f"no {name}")

    return {
        "tf_symbolic": symbolic,
        "tf_deleted_variable": deleted,
        "tf_string": lambda: tf.constant([b"\xff\x00", b"<b>"]),
        "tf_ragged": lambda: tf.ragged.constant([[1], [1, 2]]),
        "tf_sparse": lambda: tf.sparse.eye(3),
        "tf_tensor_array": lambda: tf.TensorArray(tf.float32, 2),
        "tf_resource": lambda: tf.Variable(1.0).handle,
        "tf_dataset": lambda: tf.data.Dataset.range(3).repeat(),
        "tf_iterator": lambda: iter(tf.data.Dataset.range(3).repeat()),
        "tf_raising_type": Raising,
        "tf_raising_module": lambda: Module.__new__(Module),
        "tf_graph": lambda: tf.Graph(),
        "tf_graph_def": lambda: tf.compat.v1.GraphDef(),
        "tf_keras_input": lambda: tf.keras.Input((3,)),
        "tf_unbuilt_layer": lambda: tf.keras.layers.Dense(2),
        "tf_unbuilt_model": lambda: tf.keras.Sequential(),
        "tf_function": lambda: tf.function(lambda x: x),
        "tf_shape": lambda: tf.TensorShape(None),
        "tf_spec": lambda: tf.TensorSpec(None, tf.float32),
        "tf_nan": lambda: tf.constant(float("nan")),
        "tf_dtype": lambda: tf.qint8,
    }
