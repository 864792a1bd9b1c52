"""``commscope grade``: the traces of a generated job, held against what the job measured."""

from commscope.generator.grading.judge import grade, judge
from commscope.generator.grading.model import Grade, Row, exit_code, verdict

__all__ = ["Grade", "Row", "exit_code", "grade", "judge", "verdict"]
