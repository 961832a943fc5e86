"""Pairs in which something still differs: (program, verb) -> why. A mended one must leave it."""

WRAPS = "the verb's own sentence stands in place of the program's error"
IN_A_GRAPH = "the program's thread fails while tf.function traces it, and prints its traceback"
KNOWN: dict[tuple[str, str], str] = {
    ("tensorflow:raises_inside", "show_graph_steps"): WRAPS,
    ("tensorflow:worker_thread", "watch_mutations by its own ways"): IN_A_GRAPH,
}
