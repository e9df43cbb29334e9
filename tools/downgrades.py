"""The table of downgrades: for every Feature the bridge, its cost and its loss.

`docs/downgrades.md` is derived from `portable/features/data/bridges.ini` and from what was
measured, `tools/downgrade_costs.json`:

    python -m tools downgrades --measure   execute the samples before and after, write the costs
    python -m tools downgrades             write the page
    python -m tools downgrades --check     exit 1 if the page is another

Times are processor times on XLA CPU, the best of rounds that alternate between before and after.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portable.features.bridges import bridges, since
from portable.pinning.rewrites import EXACT
from portable.version import Version
from tools.downgrade_samples import SAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable import Artifact
    from tools.downgrade_samples import Sample

__all__ = ["COSTS", "PAGE", "main", "render"]

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "downgrades.md"
COSTS = Path(__file__).parent / "downgrade_costs.json"
_TARGET = "0.9.0"
# The same program, compiled twice, now and then takes half as long again.
_COMPILATIONS = 5
_ROUNDS = 50
_WHO = {
    "serializer": "the serializer",
    "expander": "upstream's expander",
    "ours": "`--allow {}`",
    "none": "none",
}
_INTRODUCTION = """\
# Downgrades

<!-- Written by `python -m tools downgrades`; do not edit. -->

A program that needs a newer Version than its consumers have can often be rewritten. `portable
pin` uses the serializer and upstream's expander first. Rewrites of `portable` do the rest, if you
allow them by name. `portable explain P --target T` tries which rewrites are needed, and ends with
the command.

```bash
portable explain model.mlir --target 0.9.0
portable pin model.mlir --target 0.9.0 --allow composites-to-calls -o model.mlir.bc
portable pin model.mlir --target 0.9.0 --allow exact -o model.mlir.bc
```

`exact` allows all rewrites that give equal bits, where they are needed. A rewrite that is named and
has nothing to do is an error. Rewrites that are not exact have to be named; `portable pin` then
executes the program before and after on XLA CPU, and writes nothing if a result differs by more
than `--ulps` (default: 0). From Python:
`portable.serialize(program, "0.9.0", allow=["composites-to-calls"])`.

The rewrites of custom calls and of quantized types are for readers of every Version: these readers
read them, but some do not compile them. `portable check --stage compile` names the op, and the
rewrite that replaces it. These rewrites apply if they are named, whatever the target; `exact` does
not include them. XLA runs no quantized types, so those programs are written without execution.

```bash
portable check model.mlir.bc --for 'jaxlib==0.4.13' --stage compile
portable pin model.mlir.bc --for 'jaxlib==0.4.13' --allow mhlo-calls-to-ops -o older.mlir.bc
```

## Rewrites

Each was executed before and after on at least 100 random inputs
(`compat_tests/real/test_downgrade.py`), collectives on several devices. Programs that XLA CPU
refuses before the rewrite ran on StableHLO's reference interpreter before, and on XLA CPU after
(`test_downgrade_rooted.py`). Custom calls are in `test_calls.py`, quantized types in
`test_quantized.py`. If no Executor runs the original program, numpy gives the expected results.

| rewrite | what it does | results | what is lost |
|---|---|---|---|
"""
_FEATURES = """
## Features

Every op form, type, attribute, constraint and location of the VHLO table that 0.9.0 lacks.
*Ops* is the number of added ops, *time* the CPU time on XLA CPU after / before, and *bits* the
difference of the results, all for one sample of the Feature in `tools/downgrade_samples.py`,
{when}. A dash: XLA CPU does not execute the original program, or there is nothing to measure.
In parentheses, for a reduction that promotes and is refused without the rewrite: the time compared
with the same reduction in the narrow type, which is the cost of the promotion.

| Feature | needs | bridge | ops | time | bits | workaround, or why there is none |
|---|---|---|---|---|---|---|
"""


def render() -> str:
    """Return the page."""
    table, costs = bridges(), json.loads(COSTS.read_text())
    lines = [_INTRODUCTION.rstrip("\n")]
    for name, terms in table.rewrites.items():
        lines.append(f"| `{name}` | {terms.does} | {terms.bound} | {terms.loses} |")
    when = f"measured with {costs['release']} on {costs['date']}"
    lines.append(_FEATURES.format(when=when).rstrip("\n"))
    newest_first = sorted(since(), key=lambda name: (Version.parse(since()[name]), name))[::-1]
    for name in newest_first:
        bridge = table.features[name]
        cost = costs["features"].get(name, {})
        who = [_WHO["expander"]] * (bridge.by == "expander")
        who += [_WHO["ours"].format(rewrite) for rewrite in bridge.rewrites]
        ops, ulps = (cost.get(key) for key in ("ops", "ulps"))
        cells = [
            f"`{name}`",
            since()[name],
            "; ".join(who) or _WHO[bridge.by],
            "-" if ops is None else f"{ops:+d}",
            _time(cost),
            "-" if ulps is None else ("equal" if not ulps else f"{ulps} ulps"),
            bridge.workaround,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _time(cost: dict[str, float]) -> str:
    if "beside" in cost:
        return f"({cost['beside']:.2f}x)"
    return f"{cost['ratio']:.2f}x" if "ratio" in cost else "-"


def measure() -> dict[str, Any]:
    """Execute every sample before and after."""
    from portable.runtime.executors import find_executor

    found: dict[str, Any] = {}
    with find_executor("pjrt") as executor:
        for sample in SAMPLES:
            cost = _cost(sample, executor)
            print(sample.name, cost, flush=True)
            found |= dict.fromkeys(sample.features, cost)
    return {
        "release": f"jaxlib {importlib.metadata.version('jaxlib')}",
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "features": dict(sorted(found.items())),
    }


def _cost(sample: Sample, executor: Any) -> dict[str, Any]:
    """Measure one sample: ops added, run time after / before, distance of the results."""
    from portable import bindings
    from portable.pinning import pipeline as pin

    library = bindings.find("jaxlib")
    lossy = [name for name in sample.allow if not bridges().rewrites[name].exact]
    before = pin.serialize(sample.program, allow_dialects=["sdy"])
    after = pin.serialize(sample.program, _TARGET, allow=[*lossy, EXACT])
    cost: dict[str, Any] = {"ops": _count(library, after) - _count(library, before)}
    if not sample.runs:
        beside = sample.beside and pin.serialize(sample.beside, _TARGET)
        return cost | ({"beside": _median(beside, after)} if beside else {})
    if sample.types:
        before, after = (_concrete(library, one, sample.types) for one in (before, after))
    cost["ulps"] = _apart(before, after, executor)
    return cost | {"ratio": _median(before, after)}


def _median(before: Artifact, after: Artifact) -> float:
    ratios = sorted(_ratio(before, after) for _ in range(_COMPILATIONS))
    return round(ratios[_COMPILATIONS // 2], 2)


def _count(library: Any, artifact: Artifact) -> int:
    module = library.deserialize(artifact.data, library.context())
    return sum(count for count, _ in library.operations(module).values())


def _concrete(library: Any, artifact: Artifact, types: str) -> Artifact:
    """Give a program with unknown sizes the argument types it is called with, as JAX does."""
    from portable.pinning import pipeline as pin

    module = library.deserialize(artifact.data, library.context())
    library.run(
        module,
        f"builtin.module(stablehlo-refine-arguments{{types={types}}},stablehlo-refine-shapes,"
        "func.func(stablehlo-canonicalize-dynamism))",
    )
    return pin.serialize(module)


def _apart(before: Artifact, after: Artifact, executor: Any) -> int:
    """Return the largest distance in ulps over a few random inputs."""
    from portable.runtime.executors import compare_all, random_inputs, signature

    one, other = executor.compile(before), executor.compile(after)
    worst = 0
    for seed in range(3):
        given = random_inputs(signature(before), seed)
        for comparison in compare_all(one.run(given), other.run(given)):
            assert not comparison.reason, comparison.reason
            assert comparison.worst is not None
            worst = max(worst, comparison.worst)
    return worst


def _ratio(before: Artifact, after: Artifact) -> float:
    """Return the processor time of the one after over that of the one before, both compiled."""
    sides = [_side(before), _side(after)]
    best = [float("inf")] * len(sides)
    for _ in range(_ROUNDS):
        for at, action in enumerate(sides):
            began = time.process_time()
            action()
            best[at] = min(best[at], time.process_time() - began)
    return best[1] / best[0]


def _side(artifact: Artifact) -> Callable[[], None]:
    import jax
    from jaxlib import xla_client

    from portable.runtime.executors import random_inputs, signature

    jax.config.update("jax_enable_x64", True)
    (device, *_) = jax.devices("cpu")
    devices, options = xla_client.DeviceList((device,)), xla_client.CompileOptions()
    loaded = device.client.compile_and_load(artifact.data, devices, options)
    given = [jax.device_put(array, device) for array in random_inputs(signature(artifact), 0)]

    def action() -> None:
        for parts in loaded.execute_sharded(given).disassemble_into_single_device_arrays():
            parts[0].block_until_ready()

    return action


def main() -> int:
    """Measure, write or check."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    if chosen.measure:
        COSTS.write_text(json.dumps(measure(), indent=1) + "\n")
    if chosen.check:
        return int(PAGE.read_text() != render())
    PAGE.write_text(render())
    return 0


if __name__ == "__main__":
    sys.exit(main())
