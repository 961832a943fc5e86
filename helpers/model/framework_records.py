"""Where records were before they had modules of their own."""

_MOVED = {
    "ROUTES": "call_records:ROUTES",
    "Call": "call_records:Call",
    "CallTree": "call_records:CallTree",
    "AGAIN": "op_records:AGAIN",
    "Value": "op_records:Value",
    "Op": "op_records:Op",
    "OpLog": "op_records:OpLog",
    "op_graph": "op_records:build_op_graph",
    "together": "graphs:join_graphs",
    "apart": "graphs:split_graph",
    "PASSES": "job_records:PASSES",
    "Blob": "job_records:Blob",
    "JobOp": "job_records:JobOp",
    "JobGraph": "job_records:JobGraph",
    "SHARES": "journey_records:SHARES",
    "Stop": "journey_records:Stop",
    "NOT_CALLED": "journey_records:NOT_CALLED",
    "Passage": "journey_records:Passage",
    "Journey": "journey_records:Journey",
    "HEADINGS": "trace_records:HEADINGS",
    "MARKS": "trace_records:MARKS",
    "TONES": "trace_records:TONES",
    "Cause": "trace_records:Cause",
    "TraceEntry": "trace_records:TraceEntry",
    "TraceLedger": "trace_records:TraceLedger",
    "trace_entry": "trace_records:build_trace_entry",
}


def __getattr__(name):  # the names that moved, until the last commit of this branch
    from importlib import import_module

    if name not in _MOVED:
        raise AttributeError(name)
    module, new = _MOVED[name].split(":")
    return getattr(import_module(f"helpers.model.{module}"), new)
