"""Write which Cases and artifacts of the tests have which form: `compat_tests/data/forms.toml`.

python -m tools found_forms            write it
python -m tools found_forms --check    compare only; exit code 1 if it is stale

Whether a form is right other tests say, by real Releases; the diff shows where one is found now
and was not, or the other way round.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from portable.artifact import Artifact
from portable.prediction import examine
from portable.prediction.forms import FORMS
from portable.prediction.parts import PARTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["BY_FORMAT", "FOUND", "main", "text"]

ROOT = Path(__file__).parents[1]
FOUND = ROOT / "compat_tests" / "data" / "forms.toml"
CORPUS = ROOT / "corpus"
BY_FORMAT = {"bytecode format 6", "target 0.15.0 or later"}
"""The forms that the header says, which very many have."""
_LINE = 100
_ANSWERS = {True: "has", None: "perhaps"}


def text() -> str:
    """Return the table as it is to be written, below the comment that stands there."""
    found = _found()
    comment = FOUND.read_text("utf-8").partition("\n[")[0].rstrip("\n")
    return "\n\n".join([comment, *(_section(form, found[form]) for form in sorted(found))]) + "\n"


def _section(form: str, answers: dict[str, set[str]]) -> str:
    lists = [_list(answer, sorted(names)) for answer, names in answers.items() if names]
    return "\n".join([f"[{json.dumps(form)}]", *lists])


def _list(answer: str, names: Iterable[str]) -> str:
    each = [*map(json.dumps, names)]
    line = f"{answer} = [{', '.join(each)}]"
    if len(line) <= _LINE:
        return line
    return "\n".join([f"{answer} = [", *(f"    {one}," for one in each), "]"])


def _found() -> dict[str, dict[str, set[str]]]:
    """Return for each form what has it, and what perhaps has it."""
    # No library writes those of PARTS: `adversarial/test_advised.py` makes them by hand.
    forms = FORMS.keys() - BY_FORMAT - PARTS.keys()
    found = {form: {answer: set[str]() for answer in _ANSWERS.values()} for form in forms}
    for name, path in _paths():
        for form, occurs in examine(Artifact.load(path)).forms.items():
            if form in found or form in PARTS:
                found[form][_ANSWERS[occurs]].add(name)
    return found


def _paths() -> Iterator[tuple[str, Path]]:
    """Yield the newest artifact of each Case, and all of the tests, each with its name."""
    for folder in CORPUS.glob("*/*/artifacts"):
        for path in sorted(folder.glob("*.bc"))[-1:]:
            yield folder.parent.name, path
    tests = ROOT / "compat_tests"
    for folder in (tests / "data" / "artifacts", tests / "adversarial" / "data"):
        for path in folder.glob("*.bc"):
            yield path.name, path


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog=sys.argv[0], description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing")
    chosen = parser.parse_args()
    made = text()
    if chosen.check:
        stale = made != FOUND.read_text("utf-8")
        if stale:
            print(f"{FOUND.relative_to(ROOT)} is stale: python -m tools found_forms")
        return int(stale)
    FOUND.write_text(made, "utf-8")
    return 0
