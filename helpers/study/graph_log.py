"""A backend of torch.compile that runs its graphs as they are, and counts them."""


class GraphLog:
    """`compiled` counts graphs that compute. `ran` lists the arguments and results of each run."""

    def __init__(self):
        self.compiled, self.ran = 0, []

    def backend(self, graph, inputs):
        """Return the graph. A graph that computes is counted, and so are its runs."""
        if not any(node.op.startswith("call") for node in graph.graph.nodes):
            return graph
        self.compiled += 1

        def run(*args):
            results = graph(*args)
            self.ran.append((args, results))
            return results

        return run
