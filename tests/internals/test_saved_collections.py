"""helpers/internals/saved_collections.py: the same object gets its items back, at two levels."""

from collections import Counter, defaultdict, deque

import pytest

from helpers.internals.saved_collections import SavedCollection, save_collection

COLLECTIONS = {
    "dict": lambda: {"a": 1},
    "list": lambda: [3, 1, 2],
    "set": lambda: {1, 2},
    "deque": lambda: deque([1, 2], maxlen=9),
    "dict of dicts": lambda: defaultdict(Counter, {"a": Counter(x=1)}),
    "dict of lists": lambda: {"a": [1, 2]},
}


@pytest.mark.parametrize("make", COLLECTIONS.values(), ids=COLLECTIONS)
@pytest.mark.parametrize("is_emptied", [False, True])
def test_a_collection_gets_its_items_back(make, is_emptied):
    collection, expected = make(), make()
    saved = SavedCollection(collection)
    if is_emptied:
        collection.clear()
    elif isinstance(collection, dict):
        for value in collection.values():
            if isinstance(value, (dict, list)):
                value.clear()
        collection["new"] = 5
    else:
        getattr(collection, "append", getattr(collection, "add", None))(5)
    assert collection != expected
    saved.restore()
    assert collection == expected and type(collection) is type(expected)


@pytest.mark.own_process(sharing="torch")
def test_a_dict_with_weak_keys_gets_back_those_that_live():
    pytest.importorskip("torch")
    from torch._dynamo.utils import ExactWeakKeyDictionary

    class Key:
        pass

    kept, freed, new = Key(), Key(), Key()
    weak_dict = ExactWeakKeyDictionary()
    weak_dict[kept] = 1
    weak_dict[freed] = 2
    saved = save_collection(weak_dict)
    weak_dict[kept] = "other"
    weak_dict[new] = 3
    del freed
    saved.restore()
    assert list(weak_dict.values.values()) == [1] and kept in weak_dict and new not in weak_dict


@pytest.mark.own_process(sharing="torch")
def test_an_object_that_is_no_collection_is_not_saved():
    pytest.importorskip("torch")
    assert save_collection(5) is None and save_collection([]) is not None
