"""The picture of a job: no box covers another, and the text has every fact."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.model.job_records import Blob, JobGraph, JobOp
from helpers.view.diagram import job_drawing
from helpers.view.diagram.arrow_lines import list_points
from helpers.view.diagram.job_drawing import draw_job as svg
from helpers.view.diagram.job_view import job as view
from tests.samples import sample


def blob(op, shape=(2,)):
    return ("out", Blob(f"{op}/out_0", "float32", shape))


def op(name, part, *reads, near="", own=False, kind="kind"):
    return JobOp(
        name, kind, part, tuple(("in", f"{r}/out_0") for r in reads), (blob(name),), near, own
    )


def small():
    return JobGraph(
        "a job",
        (
            op("x", "input"),
            op("w", "variable"),
            op("mul", "forward", "x", "w", own=True),
            op("sum", "forward", "mul"),
            op("one", "backward", "sum", near="sum"),
            op("mul_grad", "backward", "one", "x", near="mul", own=True),
            op("w_update", "update", "w", "mul_grad", near="w"),
        ),
    )


def parsed(graph):
    return ElementTree.fromstring(svg(graph))


def boxes(tree):
    found = [e for e in tree.findall(".//{*}svg") if "box" in e.get("class")]
    return [tuple(float(e.get(side)) for side in ("x", "y", "width", "height")) for e in found]


def overlap(a, b):
    return a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]


def test_text_has_every_op_with_what_it_reads_and_writes():
    text = view.text(small())
    rows = re.split(r"\n(?=\S)", text)  # a long row goes on in lines that begin with spaces
    for part in small().ops:
        line = next(row for row in rows if f" {part.name} " in row)
        assert part.part in line and str(part.writes[0][1]) in line
        assert all(name in line for _, name in part.reads)
    assert text.count("by you") == 2


def drawn(graph):
    """Return the drawing of a job, before it becomes an SVG."""
    with pytest.MonkeyPatch.context() as patch:
        seen = []
        patch.setattr(job_drawing, "render_svg", lambda title, piece, kinds: seen.append(piece))
        svg(graph)
    return seen[0]


def test_backward_op_stands_in_the_row_of_its_forward_op():
    spots = {box.label: box.rectangle for box in drawn(small()).boxes}
    assert spots["◆ mul"].y == spots["◆ mul_grad"].y < spots["sum"].y == spots["one"].y
    assert spots["x"].x < spots["◆ mul"].x < spots["◆ mul_grad"].x < spots["w_update"].x


@st.composite
def jobs(draw):
    """Draw a job of any shape: forward ops that read earlier blobs, backward ops beside them."""
    ops = [op("x", "input"), op("w", "variable")]
    forward = []
    for number in range(draw(st.integers(1, 7))):
        earlier = st.sampled_from([o.name for o in ops])
        reads = draw(st.lists(earlier, min_size=1, max_size=3))
        forward.append(f"forward_{number}")
        ops.append(op(forward[-1], "forward", *reads))
    for number in range(draw(st.integers(0, 8))):
        earlier = st.sampled_from([o.name for o in ops])
        reads = draw(st.lists(earlier, min_size=1, max_size=3))
        near = draw(st.sampled_from(forward))
        ops.append(op(f"backward_{number}", "backward", *reads, near=near))
    if draw(st.booleans()):
        ops.append(op("w_update", "update", ops[-1].name, "w", near="w"))
    return JobGraph("drawn", tuple(ops), returns=(f"{forward[0]}/out_0",))


@settings(max_examples=sample(8, 50), deadline=None, derandomize=True)
@given(jobs())
def test_no_box_covers_another_and_every_arrow_is_drawn(graph):
    tree = parsed(graph)
    places = boxes(tree)
    assert len(places) == len(graph.ops) + 1  # and what is returned
    assert not any(overlap(a, b) for i, a in enumerate(places) for b in places[:i])
    pairs = {(name, o.name) for o in graph.ops for _, name in o.reads}
    assert len(tree.findall(".//{*}path[@class='arrow']")) == len(pairs) + 1
    tips = [wire.find("{*}title").text for wire in tree.findall(".//{*}g[@class='wire']")]
    assert len(set(tips)) == len(pairs) + 1  # each wire says its ends, and lights up
    width, height = (int(tree.get(side)) for side in ("width", "height"))
    assert all(x + w <= width and y + h <= height for x, y, w, h in places)


def test_arrows_go_round_the_boxes():
    writer = {f"{each.name}/out_0": each.name for each in small().ops}
    piece, lines = drawn(small()), job_drawing.list_edges(small(), writer)
    spots = {box.label.removeprefix("◆ "): box.rectangle for box in piece.boxes}
    for line, arrow in zip(lines, piece.arrows, strict=True):
        for name in set(spots) - set(job_drawing.HEADINGS) - {line.source, line.target}:
            spot = spots[name]
            points = list_points(arrow.line)
            assert not any(spot.x < x < spot.right and spot.y < y < spot.bottom for x, y in points)
