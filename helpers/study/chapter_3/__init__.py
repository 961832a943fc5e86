"""The exercises of chapter 3, and how far a machine's opcodes reach."""

from helpers.study.chapter_3.code_patch import CODE_PATCH
from helpers.study.chapter_3.kept_alive import KEPT_ALIVE
from helpers.study.chapter_3.opcode_coverage import show_opcode_coverage
from helpers.study.chapter_3.stack_at import STACK_AT
from helpers.study.chapter_3.vm_steps import STEP_EXERCISES

EXERCISES = (*STEP_EXERCISES, STACK_AT, KEPT_ALIVE, CODE_PATCH)

__all__ = ["EXERCISES", "show_opcode_coverage"]
