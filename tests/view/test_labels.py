"""helpers/view/diagram/labels.py: no label covers another, and each stays on its arrow."""

from types import SimpleNamespace

from helpers.view.diagram.labels import along, crowded, roomy, spread
from helpers.view.diagram.shapes import Spot

LINE = "M0 40 C0 70,{x} 70,{x} 96"


def arrow(x, at, plate=60, label="words"):
    return {"line": LINE.format(x=x), "label": label, "x": at, "y": 66, "plate": plate}


def grounds(arrows):
    return [(a["x"] - a["plate"] / 2, a["y"], a["x"] + a["plate"] / 2) for a in arrows]


def apart(one, other):
    return one[2] <= other[0] or other[2] <= one[0] or abs(one[1] - other[1]) >= 17


def own(line):
    """Return how near a label may be taken to be to its arrow: on one of the points along it."""
    return set(along(line))


def test_of_two_labels_in_one_place_one_moves_along_its_arrow():
    given = arrow(-300, -150), arrow(300, -150)
    first, second = spread(given, [])
    assert (second["x"], second["y"]) in own(second["line"])
    assert apart(*grounds([first, second])) and not crowded([first, second], [])


def test_a_label_without_room_stands_where_it_covers_least_and_is_told():
    drawn = spread([arrow(0, 0), arrow(0, 0)], [Spot(-500, 0, 1000, 200)])
    assert len(crowded(drawn, [Spot(-500, 0, 1000, 200)])) == 2


def test_a_label_moves_under_no_box():
    box = Spot(-190, 60, 60, 40)
    (moved,) = spread([arrow(-300, -150)], [box])
    assert crowded([arrow(-300, -150)], [box]) and not crowded([moved], [box])
    assert (moved["x"], moved["y"]) in own(moved["line"])


def test_a_label_moves_off_the_arrow_of_another():
    across = {"line": "M-400 66 H400", "label": "", "x": 0, "y": 0, "plate": 0}
    (moved, _) = spread([arrow(-300, -150), across], [])
    assert abs(moved["y"] - 66) > 17 / 2


def test_a_label_keeps_off_heads_its_own_too():
    head = {"line": "M-150 0 V72", "label": "", "x": 0, "y": 0, "plate": 0}
    assert crowded([arrow(-300, -150), head], [])
    assert crowded([{**arrow(0, 0), "y": 94}], []) and not crowded([arrow(0, 0)], [])


def test_layers_move_apart_where_a_label_is_crowded_and_nowhere_else():
    tried = []

    def draw(more):
        tried.append(dict(more))
        high = 20 + more.get(0, 0)
        spots = {"a": Spot(0, 0, 60, 40), "b": Spot(0, 40 + high, 60, 40), "c": Spot(0, 400, 60)}
        line = f"M30 40 V{36 + high}"
        drawn = {"line": line, "label": "words", "x": 30, "y": 50, "plate": 44}
        return SimpleNamespace(arrows=spread([drawn], spots.values())), spots

    drawn = roomy(draw, [["a"], ["b"], ["c"]], True)
    assert tried[0] == {} and set(tried[-1]) == {0} and len(tried) > 1
    assert drawn.arrows[0]["y"] + 17 / 2 < 40 + 20 + tried[-1][0]
