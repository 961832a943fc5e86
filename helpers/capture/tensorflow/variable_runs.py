"""A program on a variable -> what many runs of its graph returned, and how often. A program is a
function of (v, one): a variable v that begins at 0, and the number 1. It returns tensors of the
graph that it builds, such as `[v.assign_add(one), v * 2]`. RefVariable is in
tensorflow/python/ops/ref_variable.py, and ResourceVariable in resource_variable_ops.py beside it.
The kernel of a ResourceVariable copies a buffer that is still in use before it updates the
variable.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from ...safety.arguments import require_function
from ...safety.restoring import note_interrupt
from ..text.error import describe_error
from .variable_values import format_result

KINDS = {"RefVariable": False, "ResourceVariable": True}  # the kind -> TensorFlow's `use_resource`
THREADS = 4
ROUNDS = 5  # in which the runs are counted apart, so that it shows how much the shares vary


@dataclass(frozen=True, eq=False)
class _VariableGraph:
    """The graph of a program with its variable."""

    #: the tf.Graph
    graph: object
    #: what the program returned: tensors or ops of the graph, maybe in lists or dicts
    fetches: object
    #: the op that sets the variable to 0
    initialiser: object


def count_outcomes(
    program: Callable, kind: str, runs: int, subject: str = "the program"
) -> Counter:
    """Run a program so many times, and return outcome -> number of runs.

    An outcome is what a run returned, as text. `kind` is a key of KINDS. `subject` names the
    program in errors. After Ctrl-C, the Counter has only the runs before it.
    """
    return sum(count_rounds(program, kind, runs, subject), Counter())


def count_rounds(
    program: Callable, kind: str, runs: int, subject: str = "the program"
) -> list[Counter]:
    """Return what `count_outcomes` returns, but one Counter for each of the ROUNDS.

    The first Counter has the first fifth of the runs, and so on.
    """
    require_function(program, subject)
    rounds = [Counter() for _ in range(min(ROUNDS, runs))]
    try:
        variable_graph = _build_variable_graph(program, kind, subject)
        _run_graph(variable_graph, runs, subject, rounds)
    except KeyboardInterrupt as error:
        note_interrupt(error)
    return rounds


def _build_variable_graph(program: Callable, kind: str, subject: str) -> _VariableGraph:
    """Call a program in a new graph with a variable of a kind, and return that graph.

    Raise ValueError, with the message of the program's own exception, if the program raises.
    """
    import tensorflow as tf

    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        variable = v1.Variable(0.0, use_resource=KINDS[kind], name="v")
        # `one` is a placeholder. Grappler, TensorFlow's optimizer, would compute with a constant in
        # advance, and then less would happen in the run.
        one = v1.placeholder_with_default(1.0, (), name="one")
        try:
            fetches = program(variable, one)
        except Exception as error:
            raise ValueError(f"{subject} raised {describe_error(error)}") from None
    return _VariableGraph(graph, fetches, variable.initializer)


def _run_graph(
    variable_graph: _VariableGraph, runs: int, subject: str, rounds: list[Counter]
) -> None:
    """Run a graph so many times, and count the outcomes in the Counters of `rounds`.

    Raise ValueError if the program has returned something that TensorFlow cannot fetch.
    """
    import tensorflow as tf

    v1 = tf.compat.v1
    # The session gets threads of its own, because those of the process have another number.
    config = v1.ConfigProto(inter_op_parallelism_threads=THREADS, use_per_session_threads=True)
    with v1.Session(graph=variable_graph.graph, config=config) as session:
        for number in range(runs):
            counts = rounds[number * len(rounds) // runs]  # the runs are divided evenly
            session.run(variable_graph.initialiser)
            try:
                counts[format_result(session.run(variable_graph.fetches))] += 1
            except tf.errors.OpError as error:  # an op that fails is an outcome, too
                counts[describe_error(error)] += 1
            except Exception as error:  # TensorFlow cannot fetch what the program returned
                needed = "a program must return tensors or ops of its graph"
                reason = f"{needed}, and {subject} does not"
                raise ValueError(f"{reason}: {describe_error(error)}") from None
