"""Pairs in which something still differs: (program, verb) -> why. A mended one must leave it."""

OF_OURS = "Dynamo translates the recorder's own frames, because its callback is on meanwhile"
COLLECTS = "watching_traces runs a full collection"
SIZES = "what the copy compiles leaves its sizes in torch._dynamo.pgo"
KNOWN: dict[tuple[str, str], str] = {
    ("torch:compiled_with_breaks", "show_journey"): OF_OURS,
    ("torch:vmap_of_grad", "watch_mutations by its own ways"): SIZES,
    ("tensorflow:optimizer_step", "watching_traces"): COLLECTS,
}
