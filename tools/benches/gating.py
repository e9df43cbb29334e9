"""The gate over a tree of artifacts."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tools.benches.figure import ROOT, Figure, compare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from portable.policy import Policy


__all__ = ["bench_gate"]

_GATE_FILES = 10_000


def bench_gate() -> Iterator[Figure]:
    """Time the gate over a tree of small artifacts, by headers and by content."""
    from portable.policy import gate, parse_policy

    samples = sorted((ROOT / "compat_tests" / "data" / "artifacts").glob("*.bc"))
    contents = [path.read_bytes() for path in samples]
    consumers = {"all": ["jaxlib>=0.5", "tensorflow>=2.18", "iree-base-compiler>=3.4"]}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(_GATE_FILES):
            path = Path(folder, f"{number % 100}", f"{number}.mlir.bc")
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(contents[number % len(contents)])
        for depth, limit in (("header", 2000), ("content", 200)):
            policy = parse_policy({"consumers": consumers, "rules": {"depth": depth}})

            def gated(policy: Policy = policy, folder: str = folder) -> Callable[[], object]:
                return lambda: gate([folder], policy)

            rate = _GATE_FILES / compare(gated, rounds=2)[0]
            yield Figure(f"gate over {_GATE_FILES} files, {depth}", rate, limit, "/s", floor=True)
