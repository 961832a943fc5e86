"""What the judge of a learner's cache compares before and after a call."""

from helpers.study.chapter_2.trace_cache import copied, same


def test_copies_share_leaves_and_nothing_else():
    leaf = object()
    value = {"a": [leaf, (leaf,)]}
    twin = copied(value)
    assert same(value, twin) and twin is not value and twin["a"] is not value["a"]
    assert not same(value, copied({"a": [leaf, [leaf]]}))
