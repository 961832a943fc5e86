"""Exhibits call a function what users call it, whatever it is wrapped in."""

import functools

import pytest

import helpers


def step(x, y=1):
    """A function that is wrapped below."""
    return x + y


def decorated(function):
    """Return a function with another one's name, as functools.wraps makes it."""

    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


class Trainer:
    """A class whose objects and methods are called."""

    def step(self, x):
        """Be a method."""
        return x + 1

    def __call__(self, x):
        """Be a call of an object."""
        return x + 1

    @classmethod
    def make(cls, x):
        """Be a class method."""
        return x


def nested():
    """Return a function that is made inside another."""

    def inner(x):
        return x + 1

    return inner


PLAIN = {
    "function": (step, "step"),
    "partial": (functools.partial(step, y=2), "step"),
    "partial of a partial": (functools.partial(functools.partial(step), y=2), "step"),
    "bound method": (Trainer().step, "step"),
    "partial of a bound method": (functools.partial(Trainer().step), "step"),
    "object": (Trainer(), "Trainer"),
    "partial of an object": (functools.partial(Trainer()), "Trainer"),
    "class method": (Trainer.make, "make"),
    "class": (Trainer, "Trainer"),
    "lambda": (lambda x: x + 1, "<lambda>"),
    "nested": (nested(), "inner"),
    "wraps": (decorated(step), "step"),
    "partial of wraps": (functools.partial(decorated(step)), "step"),
    "cache": (functools.lru_cache(step), "step"),
}


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("verb", ["watch_call", "watch_ops", "show_journey"])
def test_title_has_the_name_that_users_know(verb, name):
    fn, expected = PLAIN[name]
    args = () if fn is Trainer else (1,)
    title = getattr(helpers, verb)(fn, *args).model.title
    assert expected in title and "partial" not in title and "wrapper" not in title


def test_a_tf_function_has_the_name_of_what_it_traces():
    tf = pytest.importorskip("tensorflow")
    one = tf.constant(1)
    known = {n: pair for n, pair in PLAIN.items() if n not in ("class", "cache")}
    known |= {f"tf.function of {n}": (tf.function(fn), name) for n, (fn, name) in known.items()}
    known["partial of a tf.function"] = functools.partial(tf.function(step), y=2), "step"
    wrong = {}
    for name, (fn, expected) in known.items():
        ledger = helpers.watch_traces(fn)
        ledger(one)
        titles = [ledger.model.title, helpers.watch_ops(fn, one).model.title]
        titles.append(helpers.show_graph(fn, one).model.title)
        if name.startswith("tf.function"):
            titles.append(helpers.watch_call(fn, one).model.title)
        plain_name = expected.strip("<>")  # TensorFlow leaves out what no graph may have
        if not all(plain_name in title for title in titles):
            wrong[name] = titles
    assert not wrong
