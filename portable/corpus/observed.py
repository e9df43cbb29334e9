"""Execute a corpus on a GPU, a TPU or any PJRT plugin, and record how that differs from the CPU.

Every Case with expected outputs runs on the platform and on the CPU of one jaxlib. The page names
the device, its driver and the date, each Case that ends otherwise than on the CPU, and each whose
bits are others though it ends alike.
"""

from __future__ import annotations

import datetime
import itertools
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from portable.corpus.execution import LIMIT_S, attempt
from portable.escaping import code_span, markdown
from portable.pinning.pipeline import serialize
from portable.releases import find_release
from portable.runtime.environments import Environments
from portable.runtime.executors import compare_all, find_executor
from portable.system.shares import in_shares

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from portable.corpus.case import Case
    from portable.corpus.execution import Became, Ending
    from portable.releases import Release
    from portable.runtime.executors import Executor
    from portable.version import Version

__all__ = ["Deviation", "Host", "driver", "observe", "observe_platform", "page"]

# Where the kernel says which driver it has loaded.
_NVIDIA = Path("/proc/driver/nvidia/version")
_NVIDIA_VERSION = re.compile(r"Kernel Module.*?\s(\d+(?:\.\d+)+)\s")
_SMALLEST = "func.func @main() { return }"


@dataclass(frozen=True, slots=True)
class Host:
    """What the corpus was executed on.

    Args:
        platform: As requested; of a path the last part.
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
class Deviation:
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

    @property
    def why(self) -> str:
        """How the bits differ, or why one side ended as it did."""
        return self.bits or self.there.reason or self.here.reason

    def record(self) -> dict[str, str]:
        """Return it as plain data for JSON."""
        ends = {"there": str(self.there.ending), "cpu": str(self.here.ending)}
        return {"case": self.case, **ends, "why": self.why}


def observe(
    there: Executor,
    here: Executor,
    cases: Iterable[Case],
    newest: Version,
    progress: Callable[[], None] = lambda: None,
) -> tuple[Counter[Ending], list[Deviation]]:
    """Execute Cases on two Executors.

    Args:
        there: The platform.
        here: The CPU.
        cases: Those without expected outputs are passed over.
        newest: The highest Version of an artifact.
        progress: Called after each Case.

    Returns:
        How often each ending was met on the platform, and what differs.
    """
    counts: Counter[Ending] = Counter()
    found = []
    for case in cases:
        if not _is_executed(case):
            continue
        (one, outputs), (other, expected) = (attempt(e, case, newest) for e in (there, here))
        progress()
        counts[one.ending] += 1
        both = outputs and expected
        unlike = [c for c in compare_all(expected, outputs) if not c.same] if both else []
        if unlike or one.ending is not other.ending:
            found.append(Deviation(case.name, one, other, "; ".join(map(str, unlike))))
    return counts, found


def _is_executed(case: Case) -> bool:
    return bool(case.expected and case.artifacts)


def page(host: Host, counts: Counter[Ending], differences: list[Deviation]) -> str:
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
        f"# The corpus on {markdown(host.device)}",
        "",
        f"Written by {code_span(f'portable corpus run --platform {host.platform}')}:",
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
    written = [[markdown(str(cell)) for cell in row] for row in rows]
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


def observe_platform(
    platform: str,
    cases: Sequence[Case],
    on: Release | None = None,
    *,
    jobs: int = 1,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> tuple[Host, Counter[Ending], list[Deviation]]:
    """Execute Cases on a platform, and on the CPU of the same jaxlib.

    Args:
        platform: `cuda`, `tpu`, `cpu`, or the path of a PJRT plugin.
        cases: Those without expected outputs are passed over.
        on: A jaxlib; by default what is installed here.
        jobs: How many Cases at a time, each in processes of its own.
        progress: Called with how many Cases are done, and how many there are.

    Returns:
        What they were executed on, how often each ending was met there, and what differs.
    """
    environment = Environments().get(on) if on else None
    executed = [*filter(_is_executed, cases)]
    done = itertools.count(1)

    def tell() -> None:
        progress(next(done), len(executed))

    def observed(share: Iterator[Case]) -> tuple[Host, Counter[Ending], list[Deviation]]:
        with (
            find_executor("pjrt", environment, limit=LIMIT_S, platform=platform) as there,
            find_executor("pjrt", environment, limit=LIMIT_S) as here,
        ):
            release = find_release(here.name.partition(" (")[0])
            device = there.compile(serialize(_SMALLEST, "0.9.0")).device
            counts, differences = observe(there, here, share, release.target, tell)
            today = datetime.datetime.now(tz=datetime.UTC).date()
            host = Host(Path(platform).name, str(release), device, driver(), today)
        return host, counts, differences

    hosts, counted, differences = zip(*in_shares(executed, jobs, observed), strict=True)
    counts: Counter[Ending] = Counter()
    for one in counted:
        counts.update(one)
    found = sorted(itertools.chain(*differences), key=lambda one: one.case)
    return hosts[0], counts, found
