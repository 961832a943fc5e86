"""What an answer does to global names is undone; names that Dynamo needs stay."""

from functools import partial, wraps

from helpers.safety.learner_names import find_namespaces, read_globals, restore_globals

SOURCE = """
count = 1
gone = 2
def answer():
    global count, _mine
    count, _mine = 5, 6
    globals()["__compiled_fn_1"] = globals()["other"] = 7
    del globals()["gone"]
"""


def module_of_a_learner() -> dict:
    space = {"__name__": "learner"}
    exec(compile(SOURCE, "<answer>", "exec"), space)
    return space


def test_names_are_as_before_but_for_those_of_dynamo():
    space = module_of_a_learner()
    before = read_globals(space)
    space["answer"]()
    restore_globals(*before)
    assert (space["count"], space["gone"], space["__compiled_fn_1"]) == (1, 2, 7)
    assert not {"_mine", "other"} & space.keys()


def test_functions_are_found_in_whatever_wraps_or_contains_them():
    space = module_of_a_learner()
    answer = space["answer"]

    @wraps(answer)
    def wrapper():
        return answer()

    in_class = type("Answer", (), {"method": staticmethod(answer)})
    for form in (answer, partial(answer), in_class, [answer], {"key": (answer,)}):
        assert find_namespaces([form]) == [space]
    assert any(found is space for found in find_namespaces([wrapper]))
    assert find_namespaces([len, 3, wraps]) == []  # `wraps` is of a library
