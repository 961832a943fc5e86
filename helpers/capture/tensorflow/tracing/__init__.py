"""Traces of a tf.function: trace types, cache keys, how they differ, and a ledger of calls."""
