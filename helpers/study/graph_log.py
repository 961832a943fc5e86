"""A backend of torch.compile that counts the graphs, and runs each as Dynamo made it."""


class GraphLog:
    """Counts the graphs that Dynamo passes to `backend`, and records each run of a graph.

    Only graphs that call a function count. Dynamo also makes graphs that only return their inputs.

    Attributes
    ----------
    compiled
        How many graphs were counted.
    runs
        A pair (arguments, results) for each run of a counted graph.
    """

    def __init__(self):
        self.compiled = 0
        self.runs: list[tuple] = []

    def backend(self, graph, inputs):
        """Return the function that Dynamo is to run for a graph.

        Dynamo calls this method with the graph, a GraphModule, and example inputs. For a graph that
        calls a function, the returned function runs the graph and records the run.
        """
        calls_something = any(node.op.startswith("call") for node in graph.graph.nodes)
        if not calls_something:
            return graph
        self.compiled += 1

        def run(*args):
            """Run the graph, and record the arguments and the results."""
            results = graph(*args)
            self.runs.append((args, results))
            return results

        return run
