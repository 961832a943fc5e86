"""Where records were before they had modules of their own."""

_MOVED = {
    "DynamoStep": "dynamo_records:DynamoStep",
    "Break": "dynamo_records:Break",
    "DynamoRun": "dynamo_records:DynamoRun",
    "BreakListing": "dynamo_records:BreakListing",
    "MOST_FAILURES": "guard_failures:MOST_FAILURES",
    "OF_MODULE": "guard_failures:OF_MODULE",
    "explain_failures": "guard_failures:explain_failures",
    "HEADINGS": "compile_records:HEADINGS",
    "MARKS": "compile_records:MARKS",
    "TONES": "compile_records:TONES",
    "CompileEntry": "compile_records:CompileEntry",
    "CompileLedger": "compile_records:CompileLedger",
    "COLUMNS": "guard_records:COLUMNS",
    "Guard": "guard_records:Guard",
    "GuardGraph": "guard_records:GuardGraph",
    "Failure": "guard_failures:Failure",
    "LINE_COLUMNS": "guard_records:LINE_COLUMNS",
    "GuardLine": "guard_records:GuardLine",
    "GuardProgram": "guard_records:GuardProgram",
    "guard_listing": "guard_records:build_guard_listing",
}


def __getattr__(name):  # the names that moved, until the last commit of this branch
    from importlib import import_module

    if name not in _MOVED:
        raise AttributeError(name)
    module, new = _MOVED[name].split(":")
    return getattr(import_module(f"helpers.model.{module}"), new)
