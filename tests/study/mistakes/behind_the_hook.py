"""Chapter 4: machines behind the hook that run too little, too much, or are never asked."""

HOOKED = "    with frame_hook.watching(lambda code, values: stand_in, only=fn):\n"
BY_NAME = "        return machine().run(fn, *values[:first], *more, **named)\n"

MISTAKES = {
    "behind_the_hook": (
        ("has a yield", "        return program()", "        yield program()"),
        ("yours takes fn, program", "(machine, fn, program)", "(fn, program)"),
        (
            "frames of nested in through_c(), and the machine that you were given ran 1",
            HOOKED,
            "    with frame_hook.replaced(fn, stand_in):\n",
        ),
        (
            "machine that you were given ran 0",
            BY_NAME,
            BY_NAME.replace("machine()", "vm.Machine()"),
            "import frame_hook",
            "import frame_hook, vm",
        ),
        ("ran 0", "values: stand_in", "values: None"),
        ("missing 1 required", BY_NAME, "        return machine().run(fn, *values)\n"),
        ("machine: yours gives tuple", "            named |= rest[0]\n", "            pass\n"),
        ("and it will call it", "values: stand_in", "values: stand_in(*values)"),
        ("machine is a class", BY_NAME, BY_NAME.replace("machine()", "machine")),
        ("Your hook has no `only=`", ", only=fn", ""),
        ("no hook was on", HOOKED, "    if True:\n"),
        ("the machine was set to run", "return program()", "return machine().run(program)"),
        ("called 2 times", "return program()", "program()\n        return program()"),
        ("yours gives None", "return program()", "program()"),
        (
            "still on afterwards",
            HOOKED,
            "    frame_hook.watching(lambda code, values: stand_in, only=fn).__enter__()\n"
            "    if True:\n",
        ),
        (
            "still on afterwards",
            HOOKED,
            "    hook = frame_hook.watching(lambda code, values: stand_in, only=fn)\n"
            "    hook.__enter__()\n    result = program()\n    hook.__exit__(None, None, None)\n"
            "    return result\n    if True:\n",
        ),
        (
            "another code object",
            HOOKED,
            "    fn.__code__ = code.replace()\n" + HOOKED,
        ),
        (
            "the machine that you were given ran 0",
            HOOKED,
            "    with frame_hook.watching(lambda code, values: fn, only=fn):\n",
        ),
    ),
}
