"""Jumps between the rows of a table -> arcs beside it: an SVG as high as the rows."""

from helpers.view.markup import render

ROW, LANE, EDGE = 24, 11, 16  # height of a row; width of a lane; room for heads: pixels
TURN = 7  # radius of a corner


def arcs(lanes, count: int) -> str:
    """Return the picture of `count` rows as SVG text; shorter jumps stand nearer to the table.

    `lanes`: (lane, first row, last row, rows that jump, target), lane 0 next to the table. A jump
    back, which makes a loop, is drawn thicker.
    """
    lanes = list(lanes)
    width = EDGE + LANE * (1 + max(lane for lane, *_ in lanes))
    drawn = [
        _arc(width - EDGE - LANE * lane, width - 2, start, target)
        for lane, _, _, sources, target in lanes
        for start in sources
    ]
    return render("arcs.svg", width=width, height=ROW * count, arcs=drawn)


def _arc(left: int, right: int, start: int, target: int) -> dict:
    begin, end = (ROW * row + ROW // 2 + shift for row, shift in ((start, 3), (target, -3)))
    if start == target:
        begin, end = end, begin
    down = 1 if end > begin else -1
    turn = min(TURN, abs(end - begin) // 2)
    path = (
        f"M{right} {begin}H{left + turn}Q{left} {begin} {left} {begin + down * turn}"
        f"V{end - down * turn}Q{left} {end} {left + turn} {end}H{right - 6}"
    )
    head = f"M{right} {end}l-8 -4.5v9z"
    kind = "back" if target <= start else "on"
    return {"kind": kind, "path": path, "head": head, "words": f"row {start + 1} → {target + 1}"}
