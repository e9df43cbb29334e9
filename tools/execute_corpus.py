"""Execute the corpus on Releases of every Executor and keep what became of each Case.

Each Case runs at the lowest and the highest of its artifacts that the Release knows the Version
of: both must give the same bits, and those must be what the Case expects, within its tolerance.

    python -m tools execute_corpus                             the Cases that are new, on every run
    python -m tools execute_corpus --again --run tensorflow    all Cases, on runs of that name
    python -m tools execute_corpus --check --run pjrt          compare all, write nothing

The result is derived data: `compat_tests/data/executed.json`. What is neither computed nor
refused is explained by an Advisory, or by a row of `executed_otherwise.toml`; a test sees to it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from portable.corpus import load_corpus
from portable.corpus.execution import LIMIT_S, Became, Ending, attempt
from portable.releases import find_release
from portable.runtime.environments import Environments
from portable.runtime.executors import find_executor
from portable.system.files import write_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from portable.corpus import Case

__all__ = ["EXECUTED", "RUNS", "Run", "different", "execute", "load_executed"]

ROOT = Path(__file__).parent.parent
EXECUTED = ROOT / "compat_tests" / "data" / "executed.json"


@dataclass(frozen=True, slots=True)
class Run:
    """One Executor on one Release."""

    executor: str
    release: str

    def __str__(self) -> str:
        return f"{self.release} ({self.executor})"


# The newest that the tests install, and the Releases whose defects the corpus has to find again.
RUNS = (
    Run("pjrt", "jaxlib 0.10.2"),
    Run("interpreter", "jaxlib 0.10.2"),
    Run("pjrt", "jaxlib 0.9.1"),
    Run("pjrt", "jaxlib 0.4.26"),
    Run("iree", "iree-base-compiler 3.13.0"),
    Run("tensorflow", "tensorflow 2.20.0"),
    Run("tensorflow", "tensorflow 2.16.2"),
    Run("torch_xla", "torch-xla 2.9.0"),
)


def execute(run: Run, cases: Iterable[Case]) -> dict[str, Became]:
    """Execute Cases, all in one process as long as none ends it.

    Args:
        run: On what.
        cases: Those without inputs and expected outputs are passed over.

    Returns:
        What became of each, by name.
    """
    release = find_release(run.release)
    environment = Environments().get(release, to_execute=True)
    with find_executor(run.executor, environment, limit=LIMIT_S) as executor:
        return {
            case.name: attempt(executor, case, release.target)[0]
            for case in cases
            if case.expected and case.artifacts
        }


def load_executed(path: Path = EXECUTED) -> dict[str, dict[str, Became]]:
    """Load what became of each Case, by run and by name."""
    if not path.exists():
        return {}
    return {
        run: {
            **{name: Became(Ending.COMPUTED) for name in kept["computed"]},
            **{name: Became(Ending(end), why) for name, (end, why) in kept["otherwise"].items()},
        }
        for run, kept in json.loads(path.read_text("utf-8"))["runs"].items()
    }


def _kept(became: Mapping[str, Became]) -> dict[str, object]:
    return {
        "computed": sorted(name for name, b in became.items() if b.ending is Ending.COMPUTED),
        "otherwise": {
            name: [str(b.ending), b.reason]
            for name, b in sorted(became.items())
            if b.ending is not Ending.COMPUTED
        },
    }


def different(before: Mapping[str, Became], now: Mapping[str, Became]) -> list[str]:
    """Say which Cases ended otherwise than they did; their words may change."""
    names = sorted({*before, *now})
    ends = [
        (name, *(run[name].ending if name in run else None for run in (before, now)))
        for name in names
    ]
    return [f"{name}: {one} became {other}" for name, one, other in ends if one is not other]


def main() -> int:
    """Execute the corpus; return an exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--run", default="", metavar="WORD", help="only runs with this in the name")
    parser.add_argument("--again", action="store_true", help="also the Cases that are not new")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    chosen = parser.parse_args()
    cases, kept, wrong = load_corpus(ROOT / "corpus"), load_executed(), 0
    for run in (run for run in RUNS if chosen.run in str(run)):
        known = kept.get(str(run), {})
        new = [case for case in cases if chosen.again or chosen.check or case.name not in known]
        became = execute(run, new)
        counts = Counter(str(one.ending) for one in became.values())
        print(f"{run}: {', '.join(f'{count} {ending}' for ending, count in counts.most_common())}")
        for line in different(known, became) if chosen.check else ():
            print(f"  {line}")
            wrong = 1
        kept[str(run)] = known | became
    if not chosen.check:
        runs = {str(run): _kept(kept[str(run)]) for run in RUNS if str(run) in kept}
        write_file(EXECUTED, f"{json.dumps({'schema': 1, 'runs': runs}, indent=1)}\n".encode())
    return wrong


if __name__ == "__main__":
    sys.exit(main())
