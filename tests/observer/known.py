"""Pairs in which something still differs: (program, verb) -> why. A mended one must leave it."""

OF_OURS = "Dynamo translates the recorder's own frames, because its callback is on meanwhile"
COLLECTS = "watching_traces runs a full collection"
SIZES = "what the copy compiles leaves its sizes in torch._dynamo.pgo"
WRAPS = "the verb's own sentence stands in place of the program's error"
IN_A_GRAPH = "the program's thread fails while tf.function traces it, and prints its traceback"
KNOWN: dict[tuple[str, str], str] = {
    ("torch:compiled_with_breaks", "show_journey"): OF_OURS,
    ("torch:vmap_of_grad", "watch_mutations by its own ways"): SIZES,
    ("tensorflow:optimizer_step", "watching_traces"): COLLECTS,
    ("tensorflow:random_generator", "watching_traces"): COLLECTS,
    ("tensorflow:printing_graph", "watching_traces"): COLLECTS,
    ("tensorflow:mutates_a_list", "watching_traces"): COLLECTS,
    ("tensorflow:raises_inside", "show_graph_steps"): WRAPS,
    ("tensorflow:worker_thread", "watch_mutations by its own ways"): IN_A_GRAPH,
}
