"""Programs with TensorFlow."""

import contextlib
import threading
import weakref

import keras
import numpy as np
import tensorflow as tf

from tests.observer.cases import Case, program

RATE = 2.0


def constant(*numbers):
    """Return a vector."""
    return tf.constant(numbers or (1.0, -2.0, 3.0))


def dense(units=1, size=3, **options):
    """Return a Keras model whose weights are the same in each process."""
    keras.utils.set_random_seed(0)
    layers = [keras.Input((size,)), keras.layers.Dense(units, **options)]
    return keras.Sequential(layers)


def other_functions():
    """Trace another tf.function; return how often it traced."""
    other = tf.function(lambda x: x + 1)
    other(tf.constant(1.0))
    other(tf.constant(2.0))
    return other.experimental_get_tracing_count()


@program()
def plain_function():
    def step(x):
        return tf.reduce_sum(tf.nn.relu(x * RATE))

    x = constant()

    def graph():
        traced = tf.function(step)
        return traced(x), traced(x + 1), traced.experimental_get_tracing_count()

    return Case(
        step, (x,), probes={"again": lambda: step(x), "graph": graph, "other": other_functions}
    )


@program("tf.function once")
def function_with_traces():
    @tf.function
    def step(x):
        return x * RATE + 1

    x = constant()
    step(x)
    step(tf.constant(1.0))
    probes = {"hit": lambda: (step(x), step.experimental_get_tracing_count())}
    probes["new"] = lambda: (step(constant(1.0)), step.experimental_get_tracing_count())
    return Case(step, (x,), probes=probes)


@program("tf.function once")
def function_not_called():
    @tf.function
    def step(x):
        print("traces")
        return x - RATE

    x = constant()
    return Case(
        step, (x,), probes={"call": lambda: step(x), "count": step.experimental_get_tracing_count}
    )


@program("tf.function")
def input_signature():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def step(x):
        return tf.reduce_sum(x)

    x = constant()
    step(x)
    probes = {"other": lambda: step(constant(1.0)), "ill": lambda: step(tf.constant("words"))}
    return Case(step, (x,), probes={**probes, "count": step.experimental_get_tracing_count})


@program("tf.function once")
def variable_on_first_call():
    class Counter(tf.Module):
        def __init__(self):
            super().__init__()
            self.total = None

        @tf.function
        def __call__(self, x):
            if self.total is None:
                self.total = tf.Variable(0.0)
            return self.total.assign_add(x)

    counter = Counter()
    probes = {"next": lambda: counter(2.0), "variables": lambda: len(counter.variables)}
    return Case(counter.__call__, (1.0,), probes=probes)


@program()
def persistent_tape():
    x = tf.Variable(3.0)

    def gradients():
        with tf.GradientTape(persistent=True) as tape:
            y = x * x
            z = y * x
        return tape.gradient(y, x), tape.gradient(z, x)

    return Case(gradients, probes={"again": gradients, "watched": lambda: x.trainable})


@program("once")
def tape_around():
    x = tf.Variable(2.0)
    tape = tf.GradientTape()
    tape.__enter__()

    def square():
        return x * x

    def gradient():
        y = square()
        tape.__exit__(None, None, None)
        return tape.gradient(y, x)

    return Case(square, probes={"gradient": gradient})


@program()
def dataset_map():
    calls = []

    def double(x):
        calls.append(1)
        return x * 2

    def run():
        data = tf.data.Dataset.range(5).map(double).batch(2)
        return data.reduce(np.int64(0), lambda total, batch: total + tf.reduce_sum(batch))

    return Case(run, probes={"again": run})


@program("once")
def dataset_iterator():
    numbers = iter(tf.data.Dataset.range(10))
    next(numbers)

    def take():
        return next(numbers) + next(numbers)

    return Case(take, probes={"next": lambda: next(numbers)})


@program("keras")
def keras_call():
    model, x = dense(), tf.ones((2, 3))
    probes = {"again": lambda: model(x), "weights": model.get_weights}
    return Case(model, (x,), probes=probes, weak={"model": weakref.ref(model)})


@program("keras once long eager")
def keras_training():
    model, x, y = dense(), tf.ones((4, 3)), tf.zeros((4, 1))
    model.compile("sgd", "mse")
    model.train_on_batch(x, y)

    def train():
        return float(model.train_on_batch(x, y))

    probes = {
        "next": train,
        "weights": model.get_weights,
        "step": lambda: int(model.optimizer.iterations),
    }
    return Case(train, probes=probes)


@program("keras long eager")
def keras_predict():
    model, x = dense(2, activation="relu"), np.ones((4, 3), "float32")
    model.predict(x, verbose=0)

    def run():
        return model.predict(x, verbose=0)

    return Case(run, probes={"again": run, "count": lambda: model.predict_function is not None})


@program("keras once")
def keras_not_built():
    keras.utils.set_random_seed(1)
    model, x = keras.Sequential([keras.layers.Dense(2)]), tf.ones((2, 3))
    return Case(model, (x,), probes={"built": lambda: model.built, "call": lambda: model(x)})


@program("keras once")
def keras_dropout():
    keras.utils.set_random_seed(2)
    layer, x = keras.layers.Dropout(0.5, seed=3), tf.ones((20,))

    def run():
        return layer(x, training=True)

    return Case(run, probes={"next": run, "global": lambda: tf.random.uniform((2,))})


@program("tf.function")
def functions_run_eagerly():
    @tf.function
    def step(x):
        print("body")
        return x + 1

    tf.config.run_functions_eagerly(True)
    x = constant()
    return Case(
        step, (x,), probes={"again": lambda: step(x), "on": tf.config.functions_run_eagerly}
    )


@program("once")
def random_numbers():
    tf.random.set_seed(5)

    def draw():
        return tf.random.uniform((3,)), tf.random.normal((2,), seed=1)

    return Case(draw, probes={"next": draw})


@program("once")
def random_generator():
    generator = tf.random.Generator.from_seed(7)

    def draw():
        return generator.normal((2,))

    return Case(draw, probes={"next": draw, "state": lambda: generator.state})


@program("tf.function")
def printing_graph():
    @tf.function
    def speak(x):
        tf.print("value", x)
        return x + 1

    x = tf.constant(1.0)
    speak(x)
    return Case(speak, (x,), probes={"again": lambda: speak(x)})


@program("tf.function")
def python_inside():
    calls = []

    def inside(x):
        calls.append(1)
        return x * 2

    @tf.function
    def step(x):
        return tf.py_function(inside, [x], tf.float32)

    x = tf.constant(1.0)
    step(x)
    return Case(step, (x,), probes={"again": lambda: step(x), "calls": lambda: bool(calls)})


@program()
def device_scope():
    def run(x):
        with tf.device("/CPU:0"), tf.name_scope("mine"):
            return x + 1

    x = constant()
    return Case(run, (x,), probes={"again": lambda: run(x).device})


@program()
def strategy_scope():
    strategy = tf.distribute.get_strategy()

    def run(x):
        with strategy.scope():
            return strategy.run(lambda y: y * 2, (x,))

    x = constant()
    return Case(
        run,
        (x,),
        probes={"again": lambda: run(x), "inside": tf.distribute.in_cross_replica_context},
    )


@program()
def ragged():
    def total(x):
        return tf.reduce_sum(x, axis=1)

    x = tf.ragged.constant([[1.0], [2.0, 3.0]])
    return Case(total, (x,), probes={"again": lambda: total(x)})


@program()
def sparse():
    def dense_of(x):
        return tf.sparse.to_dense(x)

    x = tf.sparse.from_dense([[0.0, 1.0], [2.0, 0.0]])
    return Case(dense_of, (x,), probes={"again": lambda: dense_of(x)})


@program("tf.function")
def autograph():
    @tf.function
    def loop(n):
        total = 0
        for number in tf.range(n):
            if number % 2 == 0:
                total += number
        return total

    n = tf.constant(5)
    loop(n)
    return Case(
        loop,
        (n,),
        probes={
            "again": lambda: loop(tf.constant(7)),
            "count": loop.experimental_get_tracing_count,
        },
    )


@program("tf.function long")
def jit_compiled():
    @tf.function(jit_compile=True)
    def step(x):
        return x * 2 + 1

    x = constant()
    step(x)
    return Case(step, (x,), probes={"again": lambda: step(x)})


@program()
def mixed_precision():
    keras.mixed_precision.set_global_policy("mixed_float16")
    layer = keras.layers.Dense(2, kernel_initializer="ones")
    x = tf.ones((1, 2))
    layer(x)

    def run(x):
        return layer(x)

    probes = {"again": lambda: run(x), "new": lambda: keras.layers.Dense(1).compute_dtype}
    return Case(run, (x,), probes=probes)


@program("once")
def optimizer_step():
    weight = tf.Variable([1.0, 2.0])
    optimizer = keras.optimizers.Adam(0.1)

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(weight**2)
        optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])
        return loss

    return Case(step, probes={"next": step, "weight": lambda: weight})


@program()
def raises_inside():
    @tf.function
    def wrong(x):
        return tf.matmul(x, x)

    def run(x):
        return wrong(x)

    return Case(run, (tf.ones((2, 3)),), probes={"well": lambda: run(tf.ones((2, 2)))})


@program("tf.function once")
def mutates_a_list():
    items = []

    @tf.function
    def step(x):
        items.append(1)
        return x + len(items)

    x = tf.constant(1.0)
    return Case(step, (x,), probes={"again": lambda: step(x), "length": lambda: len(items)})


@program()
def custom_gradient():
    @tf.custom_gradient
    def clip(x):
        return x, lambda upstream: tf.clip_by_value(upstream, -1.0, 1.0)

    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = clip(x) * 5
        return tape.gradient(y, x)

    x = tf.constant(2.0)
    return Case(run, (x,), probes={"again": lambda: run(x)})


@program("tf.function")
def concrete_function():
    @tf.function
    def step(x, *, scale=1.0):
        return x * scale

    x = constant()
    concrete = step.get_concrete_function(x)
    probes = {"concrete": lambda: concrete(x), "count": step.experimental_get_tracing_count}
    return Case(step, (x,), {"scale": 1.0}, probes)


@program()
def old_graph():
    def run():
        graph = tf.Graph()
        with graph.as_default():
            made = tf.constant(2.0) * 3.0
        with tf.compat.v1.Session(graph=graph) as session:
            return session.run(made)

    return Case(run, probes={"again": run, "eager": tf.executing_eagerly})


@program()
def worker_thread():
    def run(x):
        found = []
        worker = threading.Thread(target=lambda: found.append(x * 2), name="worker")
        worker.start()
        worker.join()
        return found[0]

    x = constant()
    return Case(run, (x,), probes={"again": lambda: run(x)})


@program()
def nested_functions():
    inner = tf.function(lambda x: x * 2)

    @tf.function
    def outer(x):
        return inner(x) + inner(x + 1)

    x = constant()

    def run(x):
        return outer(x)

    probes = {
        "count": lambda: (
            outer.experimental_get_tracing_count(),
            inner.experimental_get_tracing_count(),
        )
    }
    run(x)
    return Case(run, (x,), probes=probes)


@program()
def tensor_array():
    def run(n):
        written = tf.TensorArray(tf.float32, size=n)
        for number in range(n):
            written = written.write(number, float(number))
        return written.stack()

    return Case(run, (3,), probes={"again": lambda: run(2)})


@program("once")
def control_dependencies():
    total = tf.Variable(0.0)

    @tf.function
    def step(x):
        with tf.control_dependencies([total.assign_add(x)]):
            return total.read_value()

    def run(x):
        return step(x)

    return Case(
        run,
        (tf.constant(1.0),),
        probes={"next": lambda: run(tf.constant(2.0)), "total": lambda: total},
    )


@program("keras")
def keras_subclass():
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.first = keras.layers.Dense(2, kernel_initializer="ones")

        def call(self, x, training=False):
            return tf.nn.relu(self.first(x))

    net, x = Net(), tf.ones((1, 2))
    net(x)
    return Case(
        net, (x,), {"training": True}, {"again": lambda: net(x), "layers": lambda: len(net.layers)}
    )


@program()
def recovers_from_an_error():
    def run(x):
        with contextlib.suppress(tf.errors.InvalidArgumentError):
            tf.debugging.assert_positive(x)
        return x

    x = constant()
    return Case(run, (x,), probes={"again": lambda: run(x)})


@program("tf.function once")
def module_with_methods():
    class Scale(tf.Module):
        def __init__(self):
            super().__init__()
            self.by, self.calls = tf.Variable(2.0), tf.Variable(0)

        @tf.function
        def __call__(self, x):
            self.calls.assign_add(1)
            return self.times(x) + 1

        @tf.function
        def times(self, x):
            return x * self.by

    one, other, x = Scale(), Scale(), constant()
    other(x)

    def counts():
        functions = (one.__call__, one.times, other.__call__, other.times)
        return [function.experimental_get_tracing_count() for function in functions]

    probes = {"again": lambda: one(x), "counts": counts, "calls": lambda: int(one.calls)}
    return Case(one.__call__, (x,), probes=probes, weak={"other": weakref.ref(other)})


@program("tf.function")
def dataset_in_a_function():
    @tf.function
    def total(data):
        result = tf.constant(0, tf.int64)
        for number in data:
            if number == 3:
                continue
            result += number
        return result

    data = tf.data.Dataset.range(6)
    probes = {"again": lambda: total(data), "count": total.experimental_get_tracing_count}
    return Case(total, (data,), probes=probes)


@program("once eager")
def dataset_of_a_generator():
    made = []

    def numbers():
        for number in range(4):
            made.append(number)
            yield number

    data = tf.data.Dataset.from_generator(
        numbers, output_signature=tf.TensorSpec((), tf.int32)
    ).batch(2)

    def run():
        return [batch.numpy().tolist() for batch in data]

    return Case(run, probes={"again": run, "made": lambda: list(made)})


@program("tf.function once")
def python_function_of_a_graph():
    seen = []

    def note(x):
        seen.append(float(x))
        return x * 2

    @tf.function
    def step(x):
        doubled = tf.py_function(note, [x], tf.float32)
        return doubled + tf.numpy_function(lambda value: value + 1, [x], tf.float32)

    x = tf.constant(1.0)
    return Case(step, (x,), probes={"again": lambda: step(x), "seen": lambda: list(seen)})


@program("once raises")
def python_function_that_raises():
    def refuse(x):
        raise KeyError("no such key")

    @tf.function
    def step(x):
        return tf.py_function(refuse, [x], tf.float32)

    def run(x):
        return step(x)

    return Case(run, (tf.constant(1.0),), probes={"count": step.experimental_get_tracing_count})


@program("tf.function once")
def raises_while_it_is_traced():
    tries = []

    @tf.function
    def step(x):
        tries.append(1)
        if len(tries) < 2:
            raise LookupError("not yet")
        return x + len(tries)

    x = tf.constant(1.0)
    return Case(step, (x,), probes={"again": lambda: step(x), "tries": lambda: len(tries)})


@program("raises")
def raises_while_it_runs():
    @tf.function
    def step(x):
        with tf.control_dependencies([tf.debugging.assert_positive(x, message="too small")]):
            return tf.sqrt(x)

    def run(x):
        return step(x)

    x = constant()
    return Case(run, (x,), probes={"well": lambda: step(tf.abs(x))})


@program("tf.function once")
def fewer_retraces():
    @tf.function(reduce_retracing=True)
    def step(x, by=1):
        return tf.reduce_sum(x) * by

    step(constant())
    probes = {"wider": lambda: step(tf.ones(7)), "count": step.experimental_get_tracing_count}
    return Case(step, (tf.ones(5),), {"by": 2}, probes=probes)


@program("tf.function once")
def recursive():
    @tf.function
    def power(x, n):
        if n == 0:
            return tf.ones_like(x)
        return x * power(x, n - 1)

    x = constant()
    probes = {"again": lambda: power(x, 3), "more": lambda: power(x, 4)}
    return Case(power, (x, 3), probes={**probes, "count": power.experimental_get_tracing_count})


@program()
def extension_type():
    class Span(tf.experimental.ExtensionType):
        start: tf.Tensor
        end: tf.Tensor

        @tf.function
        def length(self):
            return self.end - self.start

    span = Span(tf.constant(1.0), tf.constant(4.0))

    def run(span):
        return span.length()

    probes = {"again": lambda: run(span), "other": lambda: run(Span(0.0, 1.0))}
    return Case(run, (span,), probes=probes)


@program("keras once long eager")
def fit_with_callbacks():
    class Note(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            heard.append((epoch, sorted(logs)))

    heard, model, x, y = [], dense(), np.ones((6, 3), "float32"), np.zeros((6, 1), "float32")
    model.compile("adam", "mse", metrics=["mae"])

    def fit():
        stop = keras.callbacks.EarlyStopping("loss", patience=1)
        history = model.fit(x, y, 4, epochs=2, callbacks=[Note(), stop], verbose=0, shuffle=False)
        return sorted(history.history)

    probes = {"weights": model.get_weights, "heard": lambda: list(heard)}
    return Case(fit, probes={**probes, "step": lambda: int(model.optimizer.iterations)})


@program("tf.function once")
def lookup_table():
    keys, values = tf.constant(["a", "b"]), tf.constant([1, 2])
    fixed = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), -1)
    growing = tf.lookup.experimental.MutableHashTable(tf.string, tf.int32, 0)

    @tf.function
    def step(words):
        growing.insert(words, fixed.lookup(words))
        return fixed.lookup(words)

    words = tf.constant(["a", "x"])
    probes = {"again": lambda: step(words), "size": growing.size}
    return Case(step, (words,), probes=probes)


@program("tf.function")
def branches_and_loops():
    @tf.function
    def step(x):
        parts = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        at = tf.constant(0)
        while tf.reduce_sum(x) > 1.0:
            x = x / 2.0
            parts = parts.write(at, x)
            at += 1
            if at > 5:
                break
        kind = tf.switch_case(at % 2, [lambda: tf.constant(0), lambda: tf.constant(1)])
        return parts.stack(), kind, tf.map_fn(lambda row: row * 2.0, x)

    x = tf.constant([4.0, 4.0])
    return Case(step, (x,), probes={"again": lambda: step(x), "less": lambda: step(x / 2.0)})


@program()
def second_derivatives():
    @tf.function
    def cube(x):
        return x**3

    def run(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = cube(x)
            slope = tape.gradient(y, x)
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as forward:
            z = cube(x)
        return outer.jacobian(slope, x), forward.jvp(z)

    x = constant()
    return Case(run, (x,), probes={"again": lambda: run(x)})


@program("tf.function once")
def signature_and_variable_argument():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.int32)])
    def step(x, times=1):
        return tf.tile(x, [times])

    x, state = constant(), tf.Variable([1.0, 2.0])
    probes = {"variable": lambda: step(state, tf.constant(2)), "default": lambda: step(x)}
    return Case(step, (x, tf.constant(2)), probes=probes)
