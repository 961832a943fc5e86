"""The sizes that a cache entry leaves open are read from its guards; no torch is needed here."""

from types import SimpleNamespace

from helpers.capture.torch.dynamic_sizes import describe_dynamic_sizes


def entry(*checks):
    guards = [SimpleNamespace(verbose_code_parts=lambda check=check: [check]) for check in checks]
    root = SimpleNamespace(get_epilogue_lambda_guards=lambda: guards)
    return SimpleNamespace(guard_manager=SimpleNamespace(root=root))


def test_ranges_and_conditions_are_told():
    checks = ["2 <= L['x'].size()[0] <= 99  # f(x)", "2 <= L['n']", "L['n'] == L['m']"]
    (sentence,) = describe_dynamic_sizes(entry(*checks))
    assert "dimension 0 of x" in sentence and "2 to 99" in sentence
    assert "n may be 2" in sentence and "n == m" in sentence


def test_an_entry_for_one_size_has_no_sentence():
    assert describe_dynamic_sizes(entry("L['n'] == 3", "L['x'] is L['y']")) == []


def test_a_guard_on_identity_is_no_condition_on_sizes():
    (sentence,) = describe_dynamic_sizes(entry("2 <= L['n']", "L['x'] is L['y']"))
    assert "x" not in sentence.split("dynamic: ")[1]
