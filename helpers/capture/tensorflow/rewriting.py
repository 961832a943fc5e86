"""What rewrites a function: AutoGraph its source, Grappler its graph; and the fate of each node.

AutoGraph keeps a source map on what it generates (autograph/pyct/origin_info.py). The executor
hands out the graphs before and after Grappler at the first run of a function
(RunMetadata.function_graphs in core/protobuf/config.proto). In a diff the first rule that fits
decides; the rest is changed.
"""

from collections import Counter
from dataclasses import replace
from itertools import product
from types import MethodType

from ...internals import tensorflow_private
from ...model.graphs import MEANINGS, Finding, Graph, GraphDiff
from ...model.phrase import clipped, listed
from ...model.tables import SideBySide, align
from ...safety.arguments import quote_value, real_isinstance, require_str, static_attribute
from ...safety.restoring import running_user_code
from ..cpython.objects import ASYNC_GENERATOR, COROUTINE, name_of
from ..cpython.unwrapping import behind, refuse_other_framework
from ..text.error import error_message, instead
from ..text.source import source_of, why_outdated
from .tf_graph import directed, find_levels, plain_name, tf_graph, traced
from .trace_ledger import as_function, as_tf_function, watched_of

JOINED = "AutoGraph's own source map matches the lines. AutoGraph added the lines without a number "
JOINED += "on the left."
INFERRED = "Both graphs come from the run itself. What happened to each node is inferred from the "
INFERRED += "two graphs, not reported by Grappler."
UNEXPLAINED = "gone; these two graphs do not show why"
MOST_NAMED, LONGEST = 3, 100


def autograph_side_by_side(fn) -> SideBySide:
    """Show a function's source beside the code that AutoGraph generates from it, line by line."""
    refuse_other_framework(fn, (), "show_autograph", "TensorFlow")
    import tensorflow as tf

    fn = known.function if (known := watched_of(fn)) else fn
    if (function := behind(fn)) is None:
        needed = "show_autograph needs a Python function"
        raise TypeError(f"{needed}, not {quote_value(fn)}{instead(fn)}")
    name = name_of(function)
    inner = fn.__func__ if type(fn) is MethodType else static_attribute(fn, "_python_function")
    marks = [static_attribute(one, "autograph_info__", ...) for one in (fn, inner)]
    reasons = {
        "autograph=False says so": static_attribute(fn, "_autograph", True) is False,
        "it is marked so": marks != [..., ...],
        "it converts no async function": function.__code__.co_flags & (COROUTINE | ASYNC_GENERATOR),
    }
    for why in filter(reasons.get, reasons):
        raise ValueError(f"AutoGraph leaves {name} as it is: {why}")
    left, first = _read_source(function, name)
    try:
        converted = tf.autograph.to_graph(function)
    except Exception as failure:
        raise ValueError(f"AutoGraph cannot convert {name}: {error_message(failure)}") from None
    if not hasattr(converted, "ag_source_map"):
        raise ValueError(f"AutoGraph leaves {name} as it is")
    right, start = _read_source(converted, name)
    origin = {
        generated.lineno - start + 1: info.loc.lineno - first + 1
        for generated, info in converted.ag_source_map.items()
    }
    pairs, title = align(left, right, origin), f"{name}, before and after AutoGraph"
    return SideBySide(title, "what you wrote", "what AutoGraph made of it", pairs, JOINED)


def _read_source(function, name: str) -> tuple[list[str], int]:
    source, outdated = source_of(function.__code__), why_outdated(function.__code__)
    if outdated or not source.text:
        why = f": {outdated}" if outdated else "; define the function in a cell or a file"
        raise ValueError(f"AutoGraph needs it, and the source of {name} is not available{why}")
    return source.lines, source.first


def watch_grappler(fn, /, *args, **kwargs) -> GraphDiff:
    """Run `fn(*args, **kwargs)` as a graph, and show what Grappler made of each node."""
    refuse_other_framework(fn, args, "watch_optimisation", "TensorFlow")
    import tensorflow as tf

    function = as_tf_function(as_function(fn).python_function)
    if tf.inside_function():
        raise RuntimeError("nothing runs while TensorFlow traces; call watch_optimisation outside")
    concrete = traced(function, args, kwargs)
    apart = tensorflow_private.retraces_counted_apart()
    with apart, tensorflow_private.run_metadata() as collected, running_user_code():
        function(*args, **kwargs)
        graphs = list(collected().function_graphs)
    if not graphs:
        raise RuntimeError("this run produced no graphs; does the function contain any op?")
    wanted = {operation.name for operation in concrete.graph.get_operations()}
    own = max(graphs, key=lambda g: sum(n.name in wanted for n in g.pre_optimization_graph.node))
    name = plain_name(concrete.graph.name)
    before = tf_graph(own.pre_optimization_graph, title=f"{name}, as Grappler gets it")
    after = tf_graph(own.post_optimization_graph, title=f"{name}, as it runs")
    counts = f"{len(before.nodes)} nodes before Grappler, {len(after.nodes)} as it runs"
    return replace(compare(before, after, f"{name}: {counts}"), note=INFERRED)


def tf_diff(before, after, title: str = "") -> GraphDiff:
    """Compare two graphs, and say what became of each node of `before`."""
    title = clipped(require_str(title, "title"), 200)
    both = [side if real_isinstance(side, Graph) else tf_graph(side) for side in (before, after)]
    return compare(*both, title)


def compare(before: Graph, after: Graph, title: str = "") -> GraphDiff:
    """Return the diff of two graphs whose nodes say their `op` and `attributes`."""
    work = _Comparison(_Side(before), _Side(after))
    for rule in (_remove, _fold, _merge, _bypass, _tell_rest):
        rule(work)
    findings = sorted(work.findings, key=lambda finding: list(MEANINGS).index(finding.word))
    title = title or f"Before: {len(before.nodes)} nodes. After: {len(after.nodes)}"
    return GraphDiff(title, before, after, tuple(findings))


class _Side:
    """One graph, asked often: nodes by key, what each reads, and the arrows."""

    def __init__(self, graph: Graph):
        self.nodes = {node.key: node for node in graph.nodes}
        self.inputs = {key: [] for key in self.nodes}
        for edge in graph.edges:
            self.inputs[edge.target].append((edge.source, edge.label))
        self.arrows = directed(graph)
        level = find_levels(self.arrows)  # a node in a cycle has none
        self.inputs_first = sorted(self.nodes, key=lambda key: level.get(key, len(self.nodes)))

    def sources(self, key: str) -> list[str]:
        """Return the keys that this node reads, once per arrow; nothing if it is not here."""
        return [source for source, _ in self.inputs.get(key, ())]

    def ordered(self, keys) -> list[str]:
        return [key for key in self.nodes if key in keys]


class _Comparison:
    """The work so far. `open`: keys without a word. `stand`: what is read now in a key's place."""

    def __init__(self, one: _Side, two: _Side):
        self.one, self.two, self.findings = one, two, []
        self.open, self.stand = dict.fromkeys(one.nodes), {}
        self.gone = one.nodes.keys() - two.nodes.keys()
        self.left = set(self.gone)  # those without an explanation
        self.new = two.nodes.keys() - one.nodes.keys()

    def say(self, word: str, before, after, how: str = "") -> None:
        """Record a finding; its nodes need no other word."""
        keys = [key for key in self.one.ordered(set(before)) if key in self.open]
        for key in keys:
            del self.open[key]
        self.left.difference_update(keys)
        self.findings.append(Finding(word, tuple(keys), tuple(after), how))

    def now_read(self, key: str) -> list[str]:
        """Return what a node read, or what is read now in its place."""
        return [self.stand.get(source, source) for source in self.one.sources(key)]

    def with_helpers(self, keys) -> list[str]:
        """Return `keys` and the gone nodes that only they read."""
        group = list(keys)
        for key in group:  # grows while it is walked
            for source in self.one.sources(key):
                served = set(group).issuperset(self.one.arrows[source])
                if served and source in self.left and source not in group:
                    group.append(source)
        return group


def _remove(work: _Comparison) -> None:
    """Gone, and no path leads to a result: an output, or else an end that is still there."""
    import networkx

    one = work.one
    ends = [key for key in one.nodes if not one.arrows[key] and key not in work.gone]
    results = [key for key, node in one.nodes.items() if node.kind == "output"] or ends
    needed = set(results).union(*(networkx.ancestors(one.arrows, key) for key in results))
    if results and (dead := work.gone - needed):
        work.say("removed", dead, (), "no path leads from it to a result")


def _fold(work: _Comparison) -> None:
    """A constant now, and all that it was computed from was constant; nothing in a cycle is."""
    one, constant = work.one, {}
    for key in one.inputs_first:
        sources, itself = one.sources(key), one.nodes[key].kind == "constant"
        constant[key] = all(map(constant.get, sources)) if sources else itself
    for key, node in one.nodes.items():
        now = work.two.nodes.get(key)
        became = now is not None and now.kind == "constant" and node.kind != "constant"
        if became and constant[key]:
            how = f"{key} is computed only from constants; it is now {now.detail or now.label}"
            work.say("folded", work.with_helpers([key]), (key,), how)


def _merge(work: _Comparison) -> None:
    """Gone, and a node that computes the same is still there."""
    number = _number_values(work.one)
    twins = {number[key]: key for key in reversed(work.one.nodes) if key not in work.gone}
    merged = {}
    for constants in (False, True):
        for key, node in work.one.nodes.items():
            twin = twins.get(number[key])
            if twin is None or key not in work.left or constants != (node.kind == "constant"):
                continue
            # Equal constants are common: of them, a reader of the one must read the other now.
            readers = (work.stand.get(reader, reader) for reader in work.one.arrows[key])
            if not constants or any(twin in work.two.sources(reader) for reader in readers):
                work.stand[key] = twin
                merged.setdefault(twin, []).append(key)
    for twin, keys in merged.items():
        work.say("merged", keys, (twin,), f"same op, attributes and inputs as {twin}")


def _number_values(side: _Side) -> dict[str, int]:
    """Return a number per key; equal numbers mean same op, same attributes, same inputs."""
    numbers, known = {}, {}
    for key in side.inputs_first:
        node = side.nodes[key]
        inputs = tuple((numbers.get(source, source), label) for source, label in side.inputs[key])
        itself = key if node.kind == "input" else ""
        signature = (node.op or node.label, node.attributes, inputs, itself)
        numbers[key] = known.setdefault(signature, len(known))
    return numbers


def _bypass(work: _Comparison) -> None:
    """A remaining reader reads what a removed node had read, instead of that node."""
    for reader in [key for key in work.one.nodes if key not in work.gone]:
        expected, now = Counter(work.now_read(reader)), Counter(work.two.sources(reader))
        known = [key for key in now - expected if key in work.one.nodes]
        for lost, gained in product(expected - now, known):
            if row := _find_row(work, lost, gained) if lost in work.left else []:
                work.stand.update(dict.fromkeys(row, gained))
                nodes = [work.one.nodes[key] for key in row]
                same = len({node.op for node in nodes}) == 1 and nodes[0].kind != "pass"
                became = "cancelled" if same and len(row) > 1 else "bypassed"
                how = f"{reader} read {lost}, and now reads {gained}"
                work.say(became, work.with_helpers(row), (), how)


def _find_row(work: _Comparison, lost: str, gained: str) -> list[str]:
    """Return the gone nodes from `lost` back to one that read `gained`; nothing if none did."""
    rows, waiting = {lost: [lost]}, [lost]
    for key in waiting:  # grows while it is walked
        sources = work.now_read(key)
        if gained in sources:
            return rows[key]
        fresh = [source for source in sources if source in work.left and source not in rows]
        rows.update({source: [source, *rows[key]] for source in fresh})
        waiting += fresh
    return []


def _tell_rest(work: _Comparison) -> None:
    """Gone, and no rule fits; new; in both: changed, and in what, or kept."""
    if work.left:
        work.say("changed", work.left, (), UNEXPLAINED)
    for key in work.two.ordered(work.new):
        work.say("added", (), (key,), f"a new {work.two.nodes[key].op or 'node'}")
    for key in list(work.open):
        if differences := "; ".join(_differences(work, key)):
            work.say("changed", [key], (key,), differences)
    if kept := list(work.open):
        work.say("kept", kept, kept)


def _differences(work: _Comparison, key: str):
    one, two = work.one.nodes[key], work.two.nodes[key]
    if one.op != two.op:
        yield f"the op was {one.op}, and is {two.op}"
        return
    was, now = dict(one.attributes), dict(two.attributes)
    for name in sorted({name for name, _ in {*one.attributes} ^ {*two.attributes}}):
        yield f"{name} was {was.get(name, 'not there')}, and is {now.get(name, 'not there')}"
    was, now = work.now_read(key), work.two.sources(key)
    lost, gained = Counter(was) - Counter(now), Counter(now) - Counter(was)
    yield from [f"no longer reads {_named(lost)}"] * bool(lost)
    yield from [f"now reads {_named(gained)}"] * bool(gained)
    if lost or gained:
        return
    before, after = (
        [one for one in side.inputs[key] if one[0] in work.two.nodes and one[0] not in work.stand]
        for side in (work.one, work.two)
    )
    if others := dict.fromkeys(source for source, _ in Counter(before) - Counter(after)):
        yield f"reads another output of {_named(others)}, or only waits for it"
    elif was != now or (len(before) == len(after) and before != after):
        yield "reads the same inputs in another order"


def _named(keys) -> str:
    return listed(keys, MOST_NAMED, LONGEST)
