"""Chapter 2: keys of a trace ranked wrong, batches that still retrace, caches that part."""

ORDER = '"tensors", "mixed", "lengths", "numbers", "containers"'
SIGNATURE = "\n    slow_step, input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([])]\n"
NUMBER = "tf.constant(float(number))"

MISTAKES = {
    "ranking": (
        ("no part of its key", '"tensors", "mixed"', '"mixed", "tensors"'),
        ("share a key", '"mixed", "lengths"', '"lengths", "mixed"'),
        ("was there before", '"lengths", "numbers"', '"numbers", "lengths"'),
        ("are five keys", '"numbers", "containers"', '"containers", "numbers"'),
        ("each of these names once", ORDER, '"tensors", "mixed"'),
        ("must be a list of the names", f"[{ORDER}]", '"tensors"'),
    ),
    "batches": (
        ("number: Python value", SIGNATURE, "slow_step, reduce_retracing=True", NUMBER, "number"),
        ("rows: shape", SIGNATURE, "slow_step"),
        ("called step 0 times", "step(rows, tf.con", "slow_step(rows, tf.con"),
        ("and it was", NUMBER, "tf.constant(0.0)"),
        ("must return a list", "return [", "return len(batches) or ["),
        ("must be a function", f"tf.function({SIGNATURE})", "5"),
    ),
    "cache": (
        ("another shape is another key", "tuple(leaf.shape)", "0"),
        ("another dtype is another key", "(leaf.dtype, ", "(0, "),
        ("a Python value is its own key", "else leaf\n", "else type(leaf)\n"),
        ("1, 1.0 and True are equal", "else leaf\n", "else repr(leaf)\n"),
        ("a list is not a tuple", "known == shape and all", "all"),
        ("unasked, no key makes room", "if self.relaxes and", "if"),
        ("makes room for all lengths", "if self.relaxes and", "if False and"),
        ("room for all ranks", "len(a[1]) != len(b[1])", "False"),
        ("trace on a copy", "mine = tf.nest.map_structure(lambda leaf: leaf, args)", "mine = args"),
        ("compare before and after", "form(mine) != form(args) or", ""),
        ("another object in the same place", " or any(a is not b for a, b in pairs)", ""),
        (
            "ran the body again",
            "                return result\n",
            "                return self.fn(*args)\n",
        ),
    ),
}
