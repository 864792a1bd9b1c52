"""The GitHub action that the documentation has for copying."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from support import ROOT

from commscope.gate.model import EXIT_CODES
from commscope.report.markdown import MARKER

PAGE = ROOT / "docs" / "github-action.md"
if not PAGE.is_file():
    pytest.skip("needs the checkout", allow_module_level=True)

BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
ACTION, WORKFLOW = BLOCKS


@pytest.fixture
def yaml() -> Any:
    return pytest.importorskip("yaml")


def _scripts(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "run" and isinstance(value, str):
                yield value
            else:
                yield from _scripts(value)
    elif isinstance(node, list):
        for item in node:
            yield from _scripts(item)


def test_the_action(yaml: Any) -> None:
    action = yaml.safe_load(ACTION)
    assert action["runs"]["using"] == "composite"
    for step in action["runs"]["steps"]:
        assert "uses" in step or step["shell"] == "bash"
    used = set(re.findall(r"inputs\.([a-z-]+)", ACTION))
    assert used == set(action["inputs"])


def test_the_workflow_gives_inputs_that_the_action_has(yaml: Any) -> None:
    workflow, action = yaml.safe_load(WORKFLOW), yaml.safe_load(ACTION)
    (job,) = workflow["jobs"].values()
    (step,) = [step for step in job["steps"] if step.get("uses", "").startswith("./")]
    assert set(step["with"]) <= set(action["inputs"])
    assert {name for name, of in action["inputs"].items() if of.get("required")} <= set(
        step["with"]
    )


@pytest.mark.parametrize("block", BLOCKS, ids=["action", "workflow"])
def test_scripts(yaml: Any, block: str) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash")
    scripts = list(_scripts(yaml.safe_load(block)))
    assert scripts
    for script in scripts:
        assert "${{" not in script, "what comes from outside must not be part of a script"
        checked = subprocess.run(
            [bash, "-n"], input=script, text=True, capture_output=True, check=False
        )
        assert (checked.returncode, checked.stderr) == (0, "")


def test_marker_and_exit_codes_are_those_of_the_program() -> None:
    assert f"marker='{MARKER}'" in ACTION
    for result, code in EXIT_CODES.items():
        assert f'{code}) echo "result={result}"' in ACTION
