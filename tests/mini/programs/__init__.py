"""Programs that the machine must run as CPython does: functions called without arguments.

They are written for opcodes, not for taste: each file holds one family, each function one idea.
`newer.py` holds the source of programs that older Pythons cannot compile.
"""
