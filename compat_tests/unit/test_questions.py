"""What users ask in public, each answered by one command; see questions.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from portable.cli import main

ROOT = Path(__file__).parents[2]
QUESTIONS: list[dict[str, Any]] = tomllib.loads(
    (ROOT / "compat_tests" / "data" / "questions.toml").read_text("utf-8")
)["question"]


def test_there_are_thirty_nine() -> None:
    """Each with where it was asked, and most with what was seen; one is of a policy."""
    assert len(QUESTIONS) == 39
    assert all(question["thread"] and question["answer"] for question in QUESTIONS)
    unseen = [one for one in QUESTIONS if not one.keys() & {"release", "evidence"}]
    assert [one["command"][0] for one in unseen] == ["gate"]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["question"][:40])
def test_one_command_answers(
    question: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is the answer, and the reason is printed."""
    policy = tmp_path / "portable.toml"
    policy.write_text(question.get("policy", ""))
    names = {"program": str(ROOT / question["program"]), "policy": str(policy)}
    code = main([word.format(**names) for word in question["command"]])
    printed = capsys.readouterr()
    assert code == question["code"], printed
    assert question["says"] in printed.out
