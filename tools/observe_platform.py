"""Execute the corpus on a GPU, a TPU or any PJRT plugin, and record how that differs from the CPU.

Every Case with expected outputs runs on the platform and on the CPU of one jaxlib. The page that
is written names the device, its driver and the date, each Case that ends otherwise than on the
CPU, and each whose bits are others though it ends alike. The result is derived data.

    python -m tools observe_platform cuda                      beside the jaxlib that is installed
    python -m tools observe_platform path/to/plugin.so --on 'jaxlib 0.10.2' -o DIR
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from portable.corpus import load_corpus
from portable.pinning.pipeline import serialize
from portable.releases import find_release
from portable.runtime.environments import Environments
from portable.runtime.executors import compare_all, find_executor
from portable.system.files import write_file
from tools.execute_corpus import LIMIT_S, ROOT, Ending, attempt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from portable.corpus import Case
    from portable.runtime.executors import Executor
    from portable.version import Version
    from tools.execute_corpus import Became

__all__ = ["OBSERVED", "Difference", "Host", "driver", "observe", "page"]

OBSERVED = ROOT / "docs" / "observed"
# Where the kernel says which driver it has loaded.
_NVIDIA = Path("/proc/driver/nvidia/version")
_NVIDIA_VERSION = re.compile(r"Kernel Module.*?\s(\d+(?:\.\d+)+)\s")
_SMALLEST = "func.func @main() { return }"


@dataclass(frozen=True, slots=True)
class Host:
    """What the corpus was executed on.

    Args:
        platform: As it was asked for; of a path the last part.
        release: The jaxlib.
        device: In the words of the runtime.
        driver: Its driver; empty where there is none.
        date: When.
    """

    platform: str
    release: str
    device: str
    driver: str
    date: datetime.date


@dataclass(frozen=True, slots=True)
class Difference:
    """How a Case differs from the CPU.

    Args:
        case: Its name.
        there: What became of it on the platform.
        here: What became of it on the CPU.
        bits: How its outputs differ; empty where they are the same, or one side has none.
    """

    case: str
    there: Became
    here: Became
    bits: str = ""


def observe(
    there: Executor, here: Executor, cases: Iterable[Case], newest: Version
) -> tuple[Counter[Ending], list[Difference]]:
    """Execute Cases on two Executors.

    Args:
        there: The platform.
        here: The CPU.
        cases: Those without expected outputs are passed over.
        newest: The highest Version of an artifact.

    Returns:
        How often each ending was met on the platform, and what differs.
    """
    counts: Counter[Ending] = Counter()
    found = []
    for case in cases:
        if not case.expected or not case.artifacts:
            continue
        (one, outputs), (other, expected) = (attempt(e, case, newest) for e in (there, here))
        counts[one.ending] += 1
        both = outputs and expected
        unlike = [c for c in compare_all(expected, outputs) if not c.same] if both else []
        if unlike or one.ending is not other.ending:
            found.append(Difference(case.name, one, other, "; ".join(map(str, unlike))))
    return counts, found


def page(host: Host, counts: Counter[Ending], differences: list[Difference]) -> str:
    """Write what was observed as Markdown."""
    facts = {
        "device": host.device,
        "driver": host.driver or "none",
        "executor": f"{host.release}, its PJRT client",
        "date": host.date.isoformat(),
        "Cases": ", ".join(f"{count} {ending}" for ending, count in counts.most_common()),
    }
    otherwise = [d for d in differences if d.there.ending is not d.here.ending]
    bits = [d for d in differences if d.there.ending is d.here.ending]
    lines = [
        f"# The corpus on {host.device}",
        "",
        f"Written by `python -m tools observe_platform {host.platform}`:",
        "each Case on the device, and on the CPU of the same jaxlib.",
        "",
        *_table(("", ""), facts.items()),
        "",
        f"## Ends otherwise than on the CPU: {len(otherwise)}",
        "",
        *_table(
            ("Case", "there", "on the CPU", "reason"),
            (
                (d.case, d.there.ending, d.here.ending, d.there.reason or d.here.reason)
                for d in otherwise
            ),
        ),
        "",
        f"## Other bits than the CPU: {len(bits)}",
        "",
        *_table(("Case", "on both", "how"), ((d.case, d.there.ending, d.bits) for d in bits)),
    ]
    return "\n".join(lines) + "\n"


def _table(head: tuple[str, ...], rows: Iterable[Iterable[object]]) -> list[str]:
    written = [[str(cell).replace("|", "\\|") for cell in row] for row in rows]
    if not written:
        return ["None."]
    rule = ["---"] * len(head)
    return [f"| {' | '.join(row)} |" for row in (head, rule, *written)]


def driver(kernel: Path = _NVIDIA) -> str:
    """Return which NVIDIA driver the kernel has loaded; empty for none."""
    try:
        found = _NVIDIA_VERSION.search(kernel.read_text("utf-8"))
    except OSError:
        return ""
    return found[1] if found else ""


def main() -> int:
    """Observe one platform; return an exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("platform", help="cuda, tpu, cpu, or the path of a PJRT plugin")
    parser.add_argument("--on", metavar="RELEASE", help="a jaxlib (default: what is installed)")
    parser.add_argument(
        "--case", default="", metavar="WORD", help="only Cases with this in the name"
    )
    parser.add_argument("--output", "-o", type=Path, default=OBSERVED, metavar="DIR")
    chosen = parser.parse_args()
    environment = Environments().get(find_release(chosen.on)) if chosen.on else None
    with (
        find_executor("pjrt", environment, limit=LIMIT_S, platform=chosen.platform) as there,
        find_executor("pjrt", environment, limit=LIMIT_S) as here,
    ):
        release = find_release(here.name.partition(" (")[0])
        device = there.compile(serialize(_SMALLEST, "0.9.0")).device
        cases = [case for case in load_corpus(ROOT / "corpus") if chosen.case in case.name]
        counts, differences = observe(there, here, cases, release.target)
        today = datetime.datetime.now(tz=datetime.UTC).date()
        host = Host(Path(chosen.platform).name, str(release), device, driver(), today)
    chosen.output.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^a-z0-9.]+", "-", f"{device} {release}".lower()).strip("-")
    path = chosen.output / f"{name}.md"
    write_file(path, page(host, counts, differences).encode())
    print(f"{path}: {sum(counts.values())} Cases, {len(differences)} differ from the CPU")
    return 0


if __name__ == "__main__":
    sys.exit(main())
