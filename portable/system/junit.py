"""JUnit XML, as CI systems read it."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from portable.escaping import block, line, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence
    from xml.etree.ElementTree import Element

__all__ = ["Problem", "Suite", "TestCase", "as_xml"]


class Problem(enum.Enum):
    """How a test case did not pass; the names of the XML elements."""

    FAILURE = "failure"
    ERROR = "error"
    SKIPPED = "skipped"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class TestCase:
    """One test case.

    Args:
        group: What CI systems group it under.
        name: Its name.
        problem: How it did not pass; None when it did.
        kind: The kind of failure or error.
        message: Why, in one line.
        details: Why, at length.
    """

    group: str
    name: str
    problem: Problem | None = None
    kind: str = ""
    message: str = ""
    details: str = ""

    # Not a test, whatever pytest concludes from the name.
    __test__ = False


@dataclass(frozen=True, slots=True)
class Suite:
    """A named list of test cases."""

    name: str
    cases: Sequence[TestCase]


def as_xml(suites: Sequence[Suite]) -> str:
    """Write suites as one document.

    Args:
        suites: The suites; where there is one, it is the root.

    Returns:
        The document, in ASCII; characters that cannot be seen or carried stand by their numbers.
    """
    from xml.etree import ElementTree as ET

    root = ET.Element("testsuites")
    for suite in suites:
        element = ET.SubElement(root, "testsuite", name=_name(suite.name))
        _count(element, suite.cases)
        for case in suite.cases:
            _write(ET.SubElement(element, "testcase"), case)
    _count(root, [case for suite in suites for case in suite.cases])
    root = root[0] if len(suites) == 1 else root
    ET.indent(root)
    text: str = ET.tostring(root, encoding="us-ascii", xml_declaration=True).decode("ascii")
    return text + "\n"


def _name(text: str) -> str:
    """Write a name, which very many cases may share."""
    return line(shortened(text, _LONGEST_NAME))


_LONGEST_NAME = 1000


def _count(element: Element, cases: Sequence[TestCase]) -> None:
    element.set("tests", str(len(cases)))
    for problem, name in (
        (Problem.FAILURE, "failures"),
        (Problem.ERROR, "errors"),
        (Problem.SKIPPED, "skipped"),
    ):
        element.set(name, str(sum(case.problem is problem for case in cases)))


def _write(element: Element, case: TestCase) -> None:
    from xml.etree import ElementTree as ET

    element.set("classname", _name(case.group))
    element.set("name", _name(case.name))
    if case.problem is None:
        return
    inner = ET.SubElement(element, str(case.problem))
    if case.kind:
        inner.set("type", line(case.kind))
    inner.set("message", line(case.message))
    inner.text = block(case.details) or None
