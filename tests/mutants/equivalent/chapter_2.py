"""Chapter 2: mutants that do what the solution does, and why."""

SAME: dict[str, dict[str, str]] = {
    "batches": {
        "- step = tf.function(slow_step, input_signature=[tf.TensorSpec([None, 3]), tf.Te"
        "nsorSpec([])]) | -  | + step = tf.function(slow_step, input_signature=[tf.Tensor"
        "Spec([None, 3]), tf.TensorSpec([])])": (
            "the function does not use the name step when it is defined"
        ),
        "- return [step(rows, tf.constant(float(number))) for number, rows in enumerate(b"
        "atches)] | + return [step(rows, float(number)) for number, rows in enumerate(bat"
        "ches)]": ("an input_signature makes a tensor of a Python number"),
    },
    "slow_training": {
        "- rate, total, count, means = (tf.constant(0.1), tf.constant(0.0), tf.constant(0"
        ".0), []) | + rate, count, total, means = (tf.constant(0.1), tf.constant(0.0), tf"
        ".constant(0.0), [])": ("both are zero"),
        "+ shared_state = [] | +  | - rate, total, count, means = (tf.constant(0.1), tf.c"
        "onstant(0.0), tf.constant(0.0), []) | + rate, total, count, means = (tf.constant"
        "(0.1), tf.constant(0.0), tf.constant(0.0), shared_state)": (
            "the list is never changed: another takes its place"
        ),
        "- loss = tf.reduce_mean((rows @ weights - 1.0) ** 2) | + loss = tf.reduce_mean(("
        "rows @ weights - 1.0) ** 2.0)": ("an exponent becomes a float there in any case"),
    },
    "cache": {
        '- """The key of a leaf that covers both, in a list; an empty list if there is no'
        'ne.""" | + \'The key of a leaf that covers both, in a list; an empty list if ther'
        "e is none.'": ("a text on a line of its own does nothing"),
        "+ result = self.trace(args) | - result = self.trace(args)": (
            "the body does not touch the cache, and the search does not run the body"
        ),
        "- return [] | + return": ("None and an empty list are both false, and neither is [k]"),
        "- if type(a) is not tuple or type(b) is not tuple or a[0] != b[0]: | + if type(a"
        ") != tuple or type(b) is not tuple or a[0] != b[0]:": ("classes are compared by identity"),
        "- if type(a) is not tuple or type(b) is not tuple or a[0] != b[0]: | + if type(a"
        ") is not tuple or type(b) != tuple or a[0] != b[0]:": ("classes are compared by identity"),
        "- if type(a) is not tuple or type(b) is not tuple or a[0] != b[0]: | + if type(a"
        ") is not tuple or type(b) is not tuple or a[0] is not b[0]:": (
            "TensorFlow has one object per dtype"
        ),
        "- if None in (a[1], b[1]) or len(a[1]) != len(b[1]): | + if None in (a[1], b[1])"
        " or len(a[1]) is not len(b[1]):": (
            "ranks are small numbers, of which CPython keeps one object each"
        ),
        "- pairs = zip(tf.nest.flatten(args), tf.nest.flatten(mine)) | + pairs = zip(tf.n"
        "est.flatten(mine), tf.nest.flatten(args))": ("`is not` is symmetric"),
        "- return (leaf.dtype, tuple(leaf.shape)) if isinstance(leaf, tf.Tensor) else lea"
        "f | + return (leaf.dtype, leaf.shape) if isinstance(leaf, tf.Tensor) else leaf": (
            "a TensorShape is equal to the tuple of its sizes, and has as many"
        ),
        "- return tf.nest.map_structure(lambda leaf: 0, args) | + return tf.nest.map_stru"
        "cture(lambda leaf: 1, args)": ("any leaf will do, if it is always the same"),
        "- return tf.nest.map_structure(lambda leaf: 0, args) | + return tf.nest.map_stru"
        "cture(lambda leaf: -1, args)": ("any leaf will do, if it is always the same"),
        "- return tf.nest.map_structure(lambda leaf: 0, args) | + return tf.nest.map_stru"
        "cture(lambda leaf: 0.0, args)": ("any leaf will do, if it is always the same"),
        "- return [a] | + return [b]": ("a and b are equal there, and keys are compared by =="),
        "- if None in (a[1], b[1]) or len(a[1]) != len(b[1]): | + if None in (b[1], a[1])"
        " or len(a[1]) != len(b[1]):": ("the order of two candidates does not matter to `in`"),
        "- raise ValueError('the body modified an argument; modify a copy') | + raise Val"
        "ueError()": ("the words of the error are the learner's own"),
        "- raise ValueError('the body modified an argument; modify a copy') | + raise Val"
        "ueError('the body modified an argument; modify a copy_x')": (
            "the words of the error are the learner's own"
        ),
        "- return [(a[0], tuple((m if m == n else None for m, n in zip(a[1], b[1]))))] | "
        "+ return [(b[0], tuple((m if m == n else None for m, n in zip(a[1], b[1]))))]": (
            "the dtypes are equal there"
        ),
        "- return [(a[0], None)] | + return [(b[0], None)]": ("the dtypes are equal there"),
        "- shared = [common(k, n) for k, n in zip(key, leaves)] | + shared = [common(n, k"
        ") for k, n in zip(key, leaves)]": ("common is symmetric"),
        "- return [(a[0], tuple((m if m == n else None for m, n in zip(a[1], b[1]))))] | "
        "+ return [(a[0], tuple((m if m == n else None for n, m in zip(a[1], b[1]))))]": (
            "common is symmetric"
        ),
        "- return [(a[0], tuple((m if m == n else None for m, n in zip(a[1], b[1]))))] | "
        "+ return [(a[0], tuple((m if m == n else None for m, n in zip(b[1], a[1]))))]": (
            "common is symmetric"
        ),
        "- shared = [common(k, n) for k, n in zip(key, leaves)] | + shared = [common(k, n"
        ") for n, k in zip(key, leaves)]": ("common is symmetric"),
        "- shared = [common(k, n) for k, n in zip(key, leaves)] | + shared = [common(k, n"
        ") for k, n in zip(leaves, key)]": ("common is symmetric"),
        "- if form(mine) != form(args) or any((a is not b for a, b in pairs)): | + if for"
        "m(mine) != form(args) or any((a is not b for b, a in pairs)):": ("`is not` is symmetric"),
        "- if known == shape and all((common(k, n) == [k] for k, n in zip(key, leaves))):"
        " | + if known == shape and all((common(n, k) == [k] for k, n in zip(key, leaves)"
        ")):": ("common is symmetric"),
        "- leaves = [s[0] for s in shared] if all(shared) else leaves | + leaves = [s[-1]"
        " for s in shared] if all(shared) else leaves": ("the lists have one item"),
    },
}
