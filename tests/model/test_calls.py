"""A tree of calls counts what is inside each, and its outline leaves no call uncounted."""

from helpers.model.call_records import Call, CallTree
from helpers.view.call_outline import MOST_WHOLE, outline_calls


def tree(*calls: tuple, routes=()) -> CallTree:
    """Return a tree of (depth, name) or (depth, name, door)."""
    made = [Call(c[0], "pkg.mod", c[1], door=bool(c[2:] and c[2])) for c in calls]
    return CallTree("t", tuple(made), routes)


SMALL = tree((0, "a"), (1, "b"), (2, "c", True), (1, "d"), (0, "e"))


def test_inside_counts_the_call_itself_and_all_below():
    assert SMALL.inside() == (4, 2, 1, 1, 1)
    assert tree().inside() == ()


def test_the_way_to_a_landmark_is_every_call_above_it():
    assert SMALL.on_the_way() == {0, 1, 2}
    assert SMALL.doors() == ("c",) and SMALL.count("d") == 1


def test_neighbours_that_say_the_same_become_one_line():
    lines = outline_calls(tree((0, "a"), (1, "b"), (1, "b"), (1, "b")))
    assert [(line.text, line.call_count) for line in lines] == [("mod.a", 4), ("mod.b ×3", 3)]


def test_a_large_tree_folds_what_is_off_the_way_and_counts_it():
    off = [(1, f"off{n % 6}") for n in range(MOST_WHOLE)]
    large = tree((0, "a"), *off, (2, "deep"), (1, "way"), (2, "door", True), (1, "after"))
    lines = outline_calls(large)
    folded = "… mod.off0 ×9, mod.off1 ×9, mod.off2 ×8, mod.off3 ×8 and 2 more"
    words = ["mod.a", folded, "mod.way", "mod.door", "… mod.after"]
    assert [line.text for line in lines] == words
    assert [line.call_count for line in lines] == [54 + 1, 51, 2, 1, 1]
