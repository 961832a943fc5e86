"""Two graphs, before and after -> a diff: what became of every node, told from the graphs alone.

No pass is asked what it did. Nodes are the same if their keys are. A word is given only where the
two graphs show it; what they do not explain is called changed. The first rule that fits decides:
removed, folded, merged, cancelled or bypassed, replaced, and then changed or kept.
"""

from collections import Counter
from dataclasses import dataclass, field

from helpers.capture.tensorflow.tf_graph import CONTROL, tf_graph
from helpers.model.graph import Graph, Node
from helpers.model.graph_diff import MEANINGS, Finding, GraphDiff
from helpers.model.phrase import listed
from helpers.safety.arguments import is_a, printable, word

UNEXPLAINED = "gone; these two graphs do not say why"
MOST_NAMED, LONGEST = 3, 100


def tf_diff(before, after, title: str = "") -> GraphDiff:
    """Return the diff of two graphs; each a Graph of the model, or what `tf_graph` takes."""
    title = printable(word(title, "title"), 200)
    both = [side if is_a(side, Graph) else tf_graph(side) for side in (before, after)]
    return compare(*both, title)


def compare(before: Graph, after: Graph, title: str = "") -> GraphDiff:
    """Return the diff of two graphs whose nodes say their `op` and `attributes`."""
    work = _Comparison(_Side(before), _Side(after))
    for rule in (_removed, _folded, _merged, _bypassed, _replaced, _altered):
        rule(work)
    order = list(MEANINGS)
    findings = tuple(sorted(work.findings, key=lambda finding: order.index(finding.word)))
    counts = f"Before: {len(before.nodes)} nodes. After: {len(after.nodes)}"
    return GraphDiff(title or counts, before, after, findings)


class _Side:
    """One graph, asked often: nodes by key, and what each reads and is read by."""

    def __init__(self, graph: Graph):
        self.nodes: dict[str, Node] = {node.key: node for node in graph.nodes}
        self._at = {key: at for at, key in enumerate(self.nodes)}
        self.inputs = {key: [] for key in self.nodes}
        self.readers = {key: [] for key in self.nodes}
        for edge in graph.edges:
            self.inputs[edge.target].append((edge.source, edge.label))
            self.readers[edge.source].append(edge.target)

    def sources(self, key: str) -> list[str]:
        """Return the keys that this node reads, once per arrow; nothing if it is not here."""
        return [source for source, _ in self.inputs.get(key, ())]

    def ordered(self, keys) -> list[str]:
        """Return the keys in this graph's order."""
        return sorted((key for key in keys if key in self._at), key=self._at.get)

    def inputs_first(self) -> list[str]:
        """Return all keys, each after what it reads; what stands in a cycle comes last."""
        missing = {key: len(inputs) for key, inputs in self.inputs.items()}
        order = [key for key in self.nodes if not missing[key]]
        for key in order:  # grows while it is walked
            for reader in self.readers[key]:
                missing[reader] -= 1
                if not missing[reader]:
                    order.append(reader)
        done = set(order)
        return order + [key for key in self.nodes if key not in done]


@dataclass
class _Comparison:
    """The work so far. `open`: keys without a word. `stand`: what is read now in a key's place."""

    one: _Side
    two: _Side
    findings: list[Finding] = field(default_factory=list)
    stand: dict[str, str] = field(default_factory=dict)
    swapped: set[str] = field(default_factory=set)

    def __post_init__(self):
        self.open = dict.fromkeys(self.one.nodes)
        self.gone = {key for key in self.one.nodes if key not in self.two.nodes}
        self.new = {key for key in self.two.nodes if key not in self.one.nodes}

    def say(self, word: str, before, after, how: str = "") -> None:
        """Record a finding; its nodes need no other word."""
        keys = [key for key in self.one.ordered(set(before)) if key in self.open]
        for key in keys:
            del self.open[key]
        self.findings.append(Finding(word, tuple(keys), tuple(after), how))

    def is_left(self, key: str) -> bool:
        """Whether the node is gone and nobody has said why."""
        return key in self.gone and key in self.open

    def place(self, key: str) -> str:
        """Return the key that is read now where `key` was read."""
        seen = set()
        while key in self.stand and key not in seen:
            seen.add(key)
            key = self.stand[key]
        return key

    def with_helpers(self, keys) -> set[str]:
        """Return `keys` and the gone nodes that only they read."""
        group, waiting = set(keys), list(keys)
        while waiting:
            for source in self.one.sources(waiting.pop()):
                served = group.issuperset(self.one.readers[source])
                if served and self.is_left(source) and source not in group:
                    group.add(source)
                    waiting.append(source)
        return group


def _removed(work: _Comparison) -> None:
    """Gone, and no path leads to a result: an output, or else an end that is still there."""
    one = work.one
    results = [key for key, node in one.nodes.items() if node.kind == "output"]
    if not results:
        results = [key for key in one.nodes if not one.readers[key] and key not in work.gone]
    needed = _reach(results, one.sources)
    dead = {key for key in work.gone if key not in needed} if results else set()
    for group in _pieces(one, dead):
        work.say("removed", group, (), "no way leads from it to a result")


def _folded(work: _Comparison) -> None:
    """A constant now, and all that it was computed from was constant."""
    constant = _from_constants(work.one)
    for key, node in work.one.nodes.items():
        now = work.two.nodes.get(key)
        if now is None or node.kind == "constant" or now.kind != "constant":
            continue
        if constant[key]:
            how = f"{key} is computed from constants alone; it is now {now.detail or now.label}"
            work.say("folded", work.with_helpers([key]), (key,), how)


def _from_constants(side: _Side) -> dict[str, bool]:
    """Return for each key whether all that it begins with is constant; nothing in a cycle is."""
    found = {}
    for key in side.inputs_first():
        sources = side.sources(key)
        itself = side.nodes[key].kind == "constant"
        found[key] = all(found.get(one) for one in sources) if sources else itself
    return found


def _merged(work: _Comparison) -> None:
    """Gone, and a node that computes the same is still there."""
    number = _value_numbers(work.one)
    twins = {number[key]: key for key in reversed(work.one.nodes) if key not in work.gone}
    merged = {}
    for constants in (False, True):
        for key, node in work.one.nodes.items():
            twin = twins.get(number[key])
            if twin is None or not work.is_left(key) or constants != (node.kind == "constant"):
                continue
            if not constants or _is_read_instead(work, key, twin):
                work.stand[key] = twin
                merged.setdefault(twin, []).append(key)
    for twin, keys in merged.items():
        work.say("merged", keys, (twin,), f"same op, attributes and inputs as {twin}")


def _value_numbers(side: _Side) -> dict[str, int]:
    """Return a number per key; equal numbers mean same op, same attributes, same inputs."""
    numbers, known = {}, {}
    for key in side.inputs_first():
        node = side.nodes[key]
        inputs = tuple((numbers.get(source, source), label) for source, label in side.inputs[key])
        own = key if node.kind == "input" else ""
        signature = (node.op or node.label, node.attributes, inputs, own)
        numbers[key] = known.setdefault(signature, len(known))
    return numbers


def _is_read_instead(work: _Comparison, key: str, twin: str) -> bool:
    """Whether a reader of `key` reads `twin` now; equal constants are too common to go by less."""
    readers = (work.place(reader) for reader in work.one.readers[key])
    return any(twin in work.two.sources(reader) for reader in readers)


def _bypassed(work: _Comparison) -> None:
    """A reader that is still there reads, in the place of a gone node, what that node had read."""
    for reader in work.one.nodes:
        for lost, gained in _exchanges(work, reader):
            row = _row(work, lost, gained) if work.is_left(lost) else []
            if row:
                work.stand.update(dict.fromkeys(row, gained))
                how = f"{reader} read {lost}, and now reads {gained}"
                work.say(_word_of_row(work, row), work.with_helpers(row), (), how)


def _word_of_row(work: _Comparison, row) -> str:
    nodes = [work.one.nodes[key] for key in row]
    same = len({node.op for node in nodes}) == 1 and nodes[0].kind != "pass"
    return "cancelled" if same and len(row) > 1 else "bypassed"


def _exchanges(work: _Comparison, reader: str) -> list[tuple[str, str]]:
    """Return (lost, gained) for what a node read before and what it reads now."""
    if reader in work.gone:
        return []
    expected = Counter(map(work.place, work.one.sources(reader)))
    now = Counter(work.two.sources(reader))
    known = [key for key in now - expected if key in work.one.nodes]
    return [(lost, gained) for lost in expected - now for gained in known]


def _row(work: _Comparison, lost: str, gained: str) -> list[str]:
    """Return the gone nodes from `lost` back to one that read `gained`; nothing if none did."""
    behind, waiting = {lost: None}, [lost]
    for key in waiting:  # grows while it is walked
        sources = [work.place(source) for source in work.one.sources(key)]
        if gained in sources:
            return _way_back(key, behind)
        for source in sources:
            if work.is_left(source) and source not in behind:
                behind[source] = key
                waiting.append(source)
    return []


def _way_back(key, behind) -> list[str]:
    row = []
    while key is not None:
        row.append(key)
        key = behind[key]
    return row


def _replaced(work: _Comparison) -> None:
    """Gone next to new: a reader of the former is still there, and reads the latter."""
    for group in _pieces(work.one, {key for key in work.open if key in work.gone}):
        readers = {r for key in group for r in work.one.readers[key]} - work.gone
        heads = {key for r in readers for key in work.two.sources(r) if key in work.new}
        fresh = work.two.ordered(
            _reach(heads, lambda key: [s for s in work.two.sources(key) if s in work.new])
        )
        if not fresh:
            work.say("changed", group, (), UNEXPLAINED)
            continue
        reader = work.one.ordered(readers)[0]
        lost = work.one.ordered(group.intersection(work.one.sources(reader)))
        gained = work.two.ordered(work.new.intersection(work.two.sources(reader)))
        how = f"{reader} read {_named(lost)}, and now reads {_named(gained)}"
        work.say("replaced", group, fresh, how)
        work.swapped |= group | set(fresh)
    for key in work.two.ordered(work.new - work.swapped):
        work.say("added", (), (key,), f"a new {work.two.nodes[key].op or 'node'}")


def _altered(work: _Comparison) -> None:
    """In both: changed, and in what, or kept."""
    kept = []
    for key in list(work.open):
        differences = "; ".join(_differences(work, key))
        if differences:
            work.say("changed", [key], (key,), differences)
        else:
            kept.append(key)
    if kept:
        work.say("kept", kept, kept)


def _differences(work: _Comparison, key: str):
    one, two = work.one.nodes[key], work.two.nodes[key]
    if one.op != two.op:
        yield f"the op was {one.op}, and is {two.op}"
        return
    was, now = dict(one.attributes), dict(two.attributes)
    for name in sorted({name for name, _ in {*one.attributes} ^ {*two.attributes}}):
        yield f"{name} was {was.get(name, 'not there')}, and is {now.get(name, 'not there')}"
    yield from _other_inputs(work, key)


def _other_inputs(work: _Comparison, key: str):
    was = [work.place(s) for s in work.one.sources(key) if s not in work.swapped]
    now = [s for s in work.two.sources(key) if s not in work.swapped]
    lost, gained = Counter(was) - Counter(now), Counter(now) - Counter(was)
    if lost:
        yield f"no longer reads {_named(lost)}"
    if gained:
        yield f"now reads {_named(gained)}"
    if lost or gained or work.one.inputs[key] == work.two.inputs[key]:
        return
    before, after = _own_inputs(work, work.one, key), _own_inputs(work, work.two, key)
    others = dict.fromkeys(source for source, _ in Counter(before) - Counter(after))
    if others and any(label == CONTROL for _, label in {*before} ^ {*after}):
        yield f"reads {_named(others)} for its value, or waits for it: not as before"
    elif others:
        yield f"reads another output of {_named(others)}"
    elif was != now or (len(before) == len(after) and before != after):
        yield "reads the same in another order"


def _own_inputs(work: _Comparison, side: _Side, key: str) -> list[tuple[str, str]]:
    """Return the inputs that are in both graphs, each with the label of its arrow."""
    inputs = side.inputs.get(key, ())
    return [one for one in inputs if one[0] in work.two.nodes and one[0] not in work.stand]


def _reach(starts, near) -> set[str]:
    """Return what can be reached from `starts`; `near(key)` gives the next keys."""
    seen, waiting = set(starts), list(starts)
    while waiting:
        fresh = {key for key in near(waiting.pop()) if key not in seen}
        seen |= fresh
        waiting += fresh
    return seen


def _pieces(side: _Side, keys: set[str]) -> list[set[str]]:
    """Return the connected pieces of the graph that has only these keys, in the graph's order."""
    pieces, seen = [], set()
    for key in side.ordered(keys):
        if key not in seen:
            near = lambda k: keys.intersection(side.sources(k) + side.readers[k])  # noqa: E731
            pieces.append(_reach([key], near))
            seen |= pieces[-1]
    return pieces


def _named(keys) -> str:
    return listed(keys, MOST_NAMED, LONGEST)
