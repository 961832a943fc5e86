"""The stage in a page: nothing moves that should not, all is read, and every way in is a way."""

import pytest
from playwright.sync_api import expect

from helpers.model.timeline import Step, Timeline
from tests.browser.stage_page import StagePage
from tests.browser.stage_programs import HOSTILE, MODELS
from tests.view import test_growing as growing
from tests.view.test_growing import broken

WIDE, HALF, NARROW = (1100, 720), (853, 480), (460, 900)  # HALF: 1280 × 720 at 150 %
ONE_SCREEN = 617  # pixels of a window of 720 that JupyterLab leaves


@pytest.fixture(scope="module")
def sheets(browser):
    """Pages that are free: a context of its own for each test takes longer than the test."""
    return []


@pytest.fixture
def page(request, browser, sheets):
    """An empty page, as new; after a failure it is not used again."""
    failed = request.session.testsfailed
    page = sheets.pop() if sheets else browser.new_page()
    page.goto("about:blank")
    page.mouse.move(0, 0)
    page.emulate_media(reduced_motion="null")
    yield page
    if request.session.testsfailed == failed:
        sheets.append(page)
    else:
        page.close()


@pytest.fixture
def show(page):
    def shown(name, *given, **media):
        model = MODELS[name]() if isinstance(name, str) else name
        return StagePage(page, model, *given, **media)

    return shown


@pytest.fixture(scope="module")
def walks():
    """What was seen on each walk, by program and size."""
    return {}


@pytest.fixture
def walked(show, walks):
    """Return a function that walks through a program's steps, once in each size."""

    def walk(name, size):
        if (name, size) not in walks:
            shown = show(name, "light", size, reduced_motion="reduce")
            walks[name, size] = shown.walk()
            assert shown.errors == [] and shown.page.title() == "A stage"
        return walks[name, size]

    return walk


@pytest.mark.parametrize("size", [WIDE, HALF, (720, 720), NARROW], ids=lambda size: f"{size[0]}px")
@pytest.mark.parametrize("name", MODELS)
def test_every_step_has_the_same_places_and_all_of_it_is_read(walked, name, size):
    steps = walked(name, size)
    assert {fact["places"] for fact in steps} == {steps[0]["places"]}
    assert [wrong for fact in steps for wrong in fact["wrong"]] == []
    if size == WIDE:
        assert steps[0]["height"] <= ONE_SCREEN


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["caught", "generator", "shared", "frames", "names", "wide"])
def test_axe_finds_nothing_serious(show, name, theme):
    shown = show(name, theme, reduced_motion="reduce")  # no colour is half on its way
    for step in (0, shown.total // 2, shown.total - 1):
        shown.go(step)
        assert shown.violations() == []


def test_facts_report_what_is_wrong(show):
    shown = show("loop", "light", WIDE)
    before = shown.facts()
    shown.root.evaluate("""root => {
      root.querySelector('.stage-name').style.fontSize = '8px';
      root.querySelector('.stage-locals').style.marginTop = '-90px';
      root.querySelector('.stage-right').after(document.createElement('div'));
      root.querySelector('.stage-title').style.marginLeft = '2000px';
    }""")
    after = shown.facts()
    assert before["wrong"] == [] and before["places"] != after["places"]
    told = " ".join(after["wrong"])
    assert all(word in told for word in ("8px", "overlap", "blank", "outside"))


def test_keys_step_through_from_wherever_the_focus_is(show):
    shown = show("loop")
    press = shown.page.keyboard.press
    shown.root.get_by_role("slider").focus()
    for key, step in (("ArrowUp", 1), ("ArrowLeft", 0), ("End", shown.total - 1), ("Home", 0)):
        press(key)
        assert shown.at() == step
    shown.root.get_by_role("button", name="Next", exact=True).focus()
    for key, step in (("Enter", 1), ("Space", 2), ("PageUp", 1)):
        press(key)
        assert shown.at() == step


def test_strip_is_clicked_and_dragged(show):
    shown = show("loop")
    box = shown.root.get_by_role("slider").bounding_box()
    mouse, height = shown.page.mouse, box["y"] + 20
    mouse.move(box["x"] + box["width"] * 0.5, height)
    mouse.down()
    assert shown.at() == shown.total // 2
    mouse.move(box["x"] + box["width"] - 2, height)
    assert shown.at() == shown.total - 1
    mouse.up()


def test_step_is_found_by_number_and_by_words(show):
    shown = show("loop")
    number = shown.root.get_by_role("spinbutton", name="Go to step")
    number.fill("9")
    number.press("Enter")
    assert shown.at() == 8
    search = shown.root.get_by_role("searchbox")
    search.fill("store_fast total")
    search.press("Enter")
    assert MODELS["loop"]().steps[shown.at()].instruction.endswith("STORE_FAST total")
    first = shown.at()
    search.press("Enter")
    assert shown.at() > first
    search.fill("no such words")
    search.press("Enter")
    expect(search).to_have_attribute("aria-invalid", "true")


@pytest.mark.parametrize(
    ("typed", "step", "words"),
    [
        ("0", 1, "There is no step 0"),
        ("-3", 1, "There is no step -3"),
        ("9999", -1, "There is no step 9999"),
        ("1.4", 1, "There is no step 1.4"),
        ("1.5", 2, "There is no step 1.5"),
        ("", 5, "That is no number"),
        ("e", 5, "That is no number"),
    ],
)
def test_odd_number_of_a_step_goes_to_the_nearest_and_that_is_said(show, typed, step, words):
    shown = show("loop")
    step = step % (shown.total + 1)
    number = shown.root.get_by_role("spinbutton", name="Go to step")
    status = shown.root.locator(".stage-says")
    number.fill("5")
    number.press("Enter")
    expect(status).not_to_contain_text("There is no step")
    number.select_text()
    number.press("Delete")
    number.press_sequentially(typed)
    number.press("Enter")
    expect(status).to_contain_text(f"{words}: this is step {step} of {shown.total}. ")
    assert shown.at() == step - 1
    expect(number).to_have_value(str(step))
    shown.root.get_by_role("button", name="Back" if step > 1 else "Next", exact=True).click()
    expect(status).not_to_contain_text(words)
    assert shown.errors == []


def test_odd_number_of_a_step_is_said_where_a_question_stands_before_the_step(show):
    shown = show("loop")
    shown.root.get_by_role("button", name="Predict").click()
    number = shown.root.get_by_role("spinbutton", name="Go to step")
    number.fill("2.2")
    number.press("Enter")
    expect(number).to_have_value(str(shown.at() + 1))
    expect(shown.root.locator(".stage-says")).to_contain_text(
        f"There is no step 2.2: this is step {shown.at() + 1} of {shown.total}. "
    )


def test_run_goes_to_where_a_name_has_just_changed(show):
    shown, steps = show("loop"), MODELS["loop"]().steps
    shown.root.get_by_role("combobox").select_option("total")
    button = shown.root.get_by_role("button", name="To next change of")
    values = []
    while button.get_attribute("aria-disabled") == "false":
        button.click()
        values.append(dict(steps[shown.at()].names)["total"])
    assert values == ["0", "4"] or values == ["0", "0", "4"]
    shown.go(0)
    shown.root.get_by_role("combobox").select_option("the output")
    button.click()
    assert steps[shown.at() - 1].printed


def test_line_and_instruction_go_to_their_next_step(show):
    shown, steps = show("loop"), MODELS["loop"]().steps
    shown.root.locator(".stage-line").nth(4).click(position={"x": 120, "y": 10})
    assert steps[shown.at()].line == 5
    shown.root.locator(".stage-row", has_text="GET_ITER").click()
    assert steps[shown.at()].opname == "GET_ITER"


def test_hovering_lights_the_other_side(show):
    shown = show("expression")
    shown.root.locator(".stage-row", has_text="BUILD_LIST").hover()
    hint = shown.root.locator(".stage-hint")
    expect(hint).to_be_visible()
    code = shown.root.locator(".stage-code").nth(2)
    box = code.bounding_box()
    letter = (box["width"] - 8) / len(code.inner_text())
    shown.page.mouse.move(box["x"] + letter * 17.5, box["y"] + 8)  # the minus in abs(x - y)
    rows = shown.root.locator(".stage-hinted")
    assert {row.split()[1] for row in rows.all_inner_texts()} == {"BINARY_OP"}


def test_lit_part_of_the_source_is_what_runs(page):
    model = MODELS["expression"]()
    shown = StagePage(page, model, reduced_motion="reduce")
    for n, step in enumerate(model.steps):
        shown.go(n)
        line, start, end, stop = step.span
        lit = shown.root.locator(".stage-lit").bounding_box()
        code = shown.root.locator(".stage-code").nth(line - 1)
        box, letters = code.bounding_box(), len(code.inner_text())
        letter = (box["width"] - 8) / letters
        assert line == end
        assert abs(lit["x"] + 2 - (box["x"] + start * letter)) < letter / 2
        assert abs(lit["width"] - 4 - (stop - start) * letter) < letter / 2


def test_line_that_has_yielded_bears_another_mark_than_the_one_that_runs_next(show):
    shown, model = show("frames"), MODELS["frames"]()
    shown.go(next(n for n, step in enumerate(model.steps) if step.lane == "yield"))
    marks = shown.root.locator(".stage-mark").all_inner_texts()
    assert sorted(filter(None, marks)) == ["↩", "▶"]
    assert shown.root.locator(".stage-line:has-text('yield')").get_attribute("data-deed")
    assert "for square in" in shown.root.locator(".stage-line[aria-current]").inner_text()


def test_raising_line_instruction_and_step_are_marked(show):
    shown, steps = show("caught"), MODELS["caught"]().steps
    raises = next(n for n, step in enumerate(steps) if step.ending.startswith("raises"))
    shown.go(raises)
    expect(shown.root.locator(".stage-thrower")).to_have_count(0)
    shown.go(raises + 1)
    expect(shown.root.locator(".stage-thrower")).to_contain_text(steps[raises].opname)
    expect(shown.root.locator(".stage-raised")).to_contain_text("items[i]")
    expect(shown.root.locator(".stage-raise")).to_have_count(1)
    shown.go(len(steps) - 1)
    expect(shown.root.locator(".stage-thrower, .stage-raised")).to_have_count(0)


def test_guard_is_lit_by_the_step_that_makes_it_and_not_in_a_prediction(show):
    shown = show(broken())
    guards = shown.root.locator(".guard[data-next]")
    found = []
    for step in range(shown.total):
        shown.go(step)
        found.append(guards.count())
    assert any(found)
    at = next(n for n, count in enumerate(found) if count)
    shown.go(at)
    expect(guards.first).to_be_visible()
    shown.root.evaluate("root => root.classList.add('stage-predicting')")
    expect(guards.first).to_be_hidden()


def test_prediction_hides_what_comes_until_it_is_made(show):
    shown, steps = show("expression"), MODELS["expression"]().steps
    shown.go(3)
    shown.root.get_by_role("button", name="Predict").click()
    expect(shown.root.locator(".stage-tells")).to_be_hidden()
    shown.root.get_by_role("button", name="Next", exact=True).click()
    assert shown.at() == 3
    right = "  |  ".join(steps[4].stack)
    wrong = [a for a in shown.root.locator(".stage-answer").all_inner_texts() if a != right]
    shown.root.locator(".stage-answer", has_text=wrong[0]).first.click()
    asked = shown.root.get_by_role("group", name="Your prediction")
    expect(asked).to_contain_text("✗ you said")
    expect(asked).to_contain_text(f"✓ this: {right}", use_inner_text=False)
    shown.root.get_by_role("button", name="See it").click()
    assert shown.at() == 4
    expect(asked).to_be_hidden()


def test_values_travel_one_step_forward_only_and_not_where_motion_is_reduced(page):
    model = MODELS["expression"]()
    flights = "new MutationObserver(all => all.forEach(one => one.addedNodes.forEach(node => "
    flights += "node.classList?.contains('stage-flight') && window.flights++)))"
    watch = f"window.flights = 0; {flights}.observe(document.querySelector('.course-stage'), "
    watch += "{childList: true})"
    for motion, moves in (("no-preference", True), ("reduce", False)):
        shown = StagePage(page, model, reduced_motion=motion)
        page.evaluate(watch)
        shown.go(6)
        shown.go(2)
        assert page.evaluate("window.flights") == 0
        shown.go(3)
        shown.go(4)
        assert (page.evaluate("window.flights") > 0) is moves


def test_taken_values_stay_as_ghosts_for_one_step(show):
    shown = show("expression")
    shown.go(4)
    gone = shown.root.locator(".stage-gone")
    assert gone.all_inner_texts() == ["10", "2"]
    shown.go(6)
    assert gone.all_inner_texts() == ["[3, 20]"]
    shown.go(4)
    assert gone.all_inner_texts() == ["10", "2"]


def test_stack_marks_what_is_new_and_where_the_next_result_goes(show):
    shown, steps = show("expression"), MODELS["expression"]().steps
    new, puts = shown.root.locator(".stage-fresh"), shown.root.locator(".stage-puts")
    for n, (step, later) in enumerate(zip(steps, steps[1:], strict=False)):
        shown.go(n)
        keys, kept = ({value.key for value in one.values} for one in (step, later))
        assert puts.count() == len(kept - keys)
        if n:
            fresh = keys - {value.key for value in steps[n - 1].values}
            assert new.count() == len(fresh)
    shown.go(4)  # BUILD_LIST takes 3 and 20: the list comes to lie where 3 lies
    ours, three = (shown.root.locator(one) for one in (".stage-puts", ".stage-block"))
    assert abs(ours.bounding_box()["y"] - three.first.bounding_box()["y"]) < 2
    expect(new).to_have_text(["20intnew"])
    label = shown.root.locator(".stage-blocks").get_attribute("aria-label")
    assert label.endswith("; new: 20; takes the top 2")


@pytest.mark.parametrize("name", ["shared", "deep", "expression"])
def test_no_slot_of_the_stack_is_cut(show, name):
    shown = show(name, reduced_motion="reduce")
    for step in (0, shown.total // 2, shown.total - 1):
        shown.go(step)
        box = shown.root.locator(".stage-blocks").bounding_box()
        slots = shown.root.locator(".stage-slot:not(.stage-out), .stage-block:not(.stage-out)")
        for place in slots.evaluate_all(
            "all => all.map(one => one.getBoundingClientRect().toJSON())"
        ):
            assert box["y"] <= place["top"] and place["bottom"] <= box["y"] + box["height"]


def test_key_tells_the_signs_of_this_stage_and_opens_by_keyboard(show):
    shown = show("loop")
    button = shown.root.get_by_role("button", name="Key to the signs")
    signs = shown.root.locator(".stage-key")
    expect(signs).to_be_hidden()
    button.focus()
    shown.page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "true")
    expect(signs).to_contain_text("a jump")
    assert "shared cell" not in signs.inner_text() and shown.at() == 0
    assert shown.violations() == []
    shown.page.keyboard.press("Enter")
    expect(signs).to_be_hidden()
    expect(show("names").root.locator(".stage-key")).not_to_contain_text("a jump")
    expect(show("shared").root.locator(".stage-key")).to_contain_text("shared cell")


def test_prediction_does_not_see_where_the_result_goes(show):
    shown = show("expression")
    shown.go(3)
    expect(shown.root.locator(".stage-puts")).to_be_visible()
    shown.root.get_by_role("button", name="Predict").click()
    expect(shown.root.locator(".stage-puts")).to_be_hidden()


def test_window_follows_the_pointer(show):
    shown = show("shared", reduced_motion="reduce")
    for step in range(shown.total):
        shown.go(step)
        inside = shown.root.evaluate("""root => {
          const place = words => root.querySelector(words).getBoundingClientRect();
          const [a, b] = ['.stage-row.stage-now', '.stage-rows'].map(place);
          return a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
        }""")
        assert inside, step


@pytest.mark.parametrize("size", [WIDE, HALF, (720, 720)], ids=lambda size: f"{size[0]}px")
@pytest.mark.parametrize("name", ["loop", "caught", "shared"])
def test_no_row_no_target_and_no_exception_line_is_cut(walked, name, size):
    assert {n: step["cut"] for n, step in enumerate(walked(name, size)) if step["cut"] != []} == {}


def test_rows_outside_the_window_are_counted(show):
    shown = show("loop", reduced_motion="reduce")
    rows, window = shown.root.locator(".stage-row"), shown.root.locator(".stage-rows")
    row, room = (one.bounding_box()["height"] for one in (rows.first, window))
    expect(shown.root.locator(".stage-more")).to_have_text(
        ["", f"… {rows.count() - round(room / row)} more"]
    )


def test_jump_is_drawn_as_taken_only_where_it_is(show):
    shown, model = show("loop"), MODELS["loop"]()
    targets = {row.offset: row.target for row in model.codes[0].rows}
    seen = set()
    for n, (step, later) in enumerate(zip(model.steps, model.steps[1:], strict=False)):
        target = targets[step.offset]
        if target < 0:
            continue
        shown.go(n)
        taken = later.offset == target
        seen.add(taken)
        assert shown.root.locator(".stage-jump.stage-taken").count() == taken
        assert shown.root.locator(".stage-jump.stage-untaken").count() == (not taken)
        told = shown.root.locator(".stage-row.stage-now small").text_content()
        assert told == ("" if taken else "not taken")
        marked = shown.root.locator(".stage-row.stage-target i").all_text_contents()
        assert marked == ([str(target)] if taken else [])
    assert seen == {True, False}


def test_step_without_content_says_why(show):
    shown = show("rounds left out")
    left_out = next(n for n, s in enumerate(MODELS["rounds left out"]().steps) if s.left_out)
    shown.go(left_out)
    expect(shown.root.locator(".stage-stack")).to_contain_text("left out")


def test_hostile_words_are_words(show):
    shown = show(Timeline(HOSTILE, HOSTILE, (Step(HOSTILE, 1, says=HOSTILE),) * 2, HOSTILE))
    expect(shown.root.locator(".stage-title")).to_have_text(HOSTILE)
    assert not shown.root.locator("img").count() and shown.page.title() == "A stage"


def test_live_line_tells_the_step_and_what_it_does(show):
    shown = show("expression")
    shown.go(3)
    told = shown.root.get_by_role("status").text_content()
    assert told == "Step 4 of 18: BINARY_OP * takes 10 and 2, computes 10 * 2 and puts 20 there."


def test_picture_tells_what_each_step_shows(show):
    shown = show("names")
    drawing = shown.root.locator(".course-picture svg")
    shown.go(2)
    label = drawing.get_attribute("aria-label")
    assert "op refers to op()" in label and "alias refers to op()" in label
    shown.go(3)
    assert "op refers to len()" in drawing.get_attribute("aria-label")


def test_call_below_shows_its_variables(show):
    shown, steps = show("recursion"), MODELS["recursion"]().steps
    deepest = max(range(len(steps)), key=lambda n: len(steps[n].callers))
    shown.go(deepest)
    cards = shown.root.locator(".stage-card")
    names = [
        f"{name} = {words}"
        for card in reversed(steps[deepest].callers)
        for name, words in card.names
    ]
    assert names and [any(one in card for card in cards.all_inner_texts()) for one in names] == [
        True
    ] * len(names)


def test_frame_that_yields_is_drawn_once_and_its_value_lies_on_the_way(show):
    shown, steps = show("frames", reduced_motion="reduce"), MODELS["frames"]().steps
    for n, step in enumerate(steps):
        shown.go(n)
        frames = shown.root.locator(".stage-frame")
        keys = frames.evaluate_all("all => all.map(one => one.dataset.key)")
        assert len(keys) == len(set(keys)) == len(step.cards) + len(step.shelf)
        handed = shown.root.locator(".stage-handed b").all_inner_texts()
        assert handed == ([step.handed] if step.handed else [])
    assert any(step.handed and step.shelf for step in steps)


def test_strip_says_what_its_lines_are_and_has_none_without_them(show):
    expect(show("loop").root.locator(".stage-lanes")).to_contain_text("│ new line")
    expect(show("recursion").root.locator(".stage-lanes")).to_contain_text("│ new line")
    one = show(Timeline("t", "x = 1", (Step("s", 1),) * 3))
    expect(one.root.locator(".stage-lanes")).not_to_contain_text("│")


def test_run_goes_to_where_a_drawn_name_has_just_changed(show):
    shown, steps = show("names"), MODELS["names"]().steps
    choice = shown.root.get_by_role("combobox")
    assert set(choice.locator("option").all_inner_texts()) >= {"op", "alias"}
    button = shown.root.get_by_role("button", name="To next change of")
    for name, lines in (("op", [2, 6]), ("alias", [5])):
        shown.go(0)
        choice.select_option(name)
        found = []
        while button.get_attribute("aria-disabled") == "false":
            button.click()
            found.append(steps[shown.at() - 1].line)
        assert found == lines


def test_pointer_stays_in_the_window_where_the_page_grows_narrow(show):
    shown = show("generator", reduced_motion="reduce")
    shown.go(shown.total - 2)
    shown.page.set_viewport_size({"width": 720, "height": 720})
    window, row = (shown.root.locator(one) for one in (".stage-rows", ".stage-row.stage-now"))
    shown.page.wait_for_function("() => document.querySelector('.stage-rows').clientHeight < 200")
    shown.facts()
    box, place = window.bounding_box(), row.bounding_box()
    assert box["y"] - 1 <= place["y"]
    assert place["y"] + place["height"] <= box["y"] + box["height"] + 1


def test_only_keywords_of_the_program_are_bold(show):
    source = (
        'def f(x):\n    """Not in, nor\n    for it\'s sake."""\n'
        "    if x in 'a' or \"\\\" is\":  # and not here\n        return r'in' if x else None\n"
    )
    shown = show(Timeline("Words", source, (Step("begin", 1), Step("end", 5))))
    bold = shown.root.locator(".stage-code b").all_inner_texts()
    assert bold == ["def", "if", "in", "or", "return", "if", "else", "None"]
    lines = shown.root.locator(".stage-code").all_inner_texts()
    assert "\n".join(lines) == source.rstrip("\n")


def test_every_lane_has_a_colour_of_the_page(show):
    steps = tuple(Step(lane, 1, lane=lane) for lane in ("hand over", "break", "a lane of mine"))
    shown = show(Timeline("Lanes", "x = 1", steps))
    swatches = shown.root.locator(".stage-lanes i").evaluate_all(
        "all => all.map(node => getComputedStyle(node).backgroundColor)"
    )
    blocks = shown.root.locator("svg path[style*=fill]").evaluate_all(
        "all => all.map(node => getComputedStyle(node).fill)"
    )
    assert swatches[:3] == blocks and not {"rgb(0, 0, 0)", "rgba(0, 0, 0, 0)"} & set(blocks)


@pytest.mark.parametrize("width", [610, 360])
@pytest.mark.parametrize("name", ["frames", "graph"])
def test_a_picture_of_frames_or_of_a_graph_has_the_width_of_a_narrow_stage(show, name, width):
    shown = show(broken() if name == "graph" else name, "light", (width, 900))
    columns = shown.root.locator(".stage-main > div").evaluate_all(
        "all => all.map(node => node.offsetWidth).filter(Boolean)"
    )
    whole = shown.root.locator(".stage-main").evaluate("node => node.clientWidth")
    assert len(columns) == 2 and set(columns) == {whole}


def test_a_new_guard_does_not_push_the_graph_out_of_sight(show):
    step, one = growing.step, growing.so_far("a")
    guarded = step(one, guards=("a guard whose words are long",))
    model = growing.run(step(growing.so_far(), made=("a",), line=2), guarded, step(one))
    shown = show(model, "light", (250, 900))
    picture = shown.root.locator(".course-picture-window.course-drags")
    expect(picture).to_have_count(1)
    for at in range(shown.total):
        shown.go(at)
        assert picture.evaluate("node => node.scrollLeft") == 0
