"""Export the model zoo by one backend and note what works; write the table in the docs.

python -m tools model_zoo measure torchax     run where the backend is installed
python -m tools model_zoo agree [NAME ...]    compare each with AOTInductor and eager PyTorch
python -m tools model_zoo write               docs/model_zoo.md, of this and of `zoo_programs`
python -m tools model_zoo write --check       fail where it is not what was measured
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools import zoo_programs

if TYPE_CHECKING:
    from collections.abc import Collection

    from portable.runtime.executors import Executor
    from tools.zoo import Model

ROOT = Path(__file__).parent.parent
MEASURED = ROOT / "compat_tests" / "data" / "model_zoo.json"
AGREED = ROOT / "compat_tests" / "data" / "model_zoo_oracle.json"
PAGE = ROOT / "docs" / "model_zoo.md"
BACKENDS = {
    "torchax": ("torch", "torchax", "jaxlib"),
    "torch_xla": ("torch", "torch_xla", "jaxlib"),
    "torch_mlir": ("torch", "torch-mlir", "jaxlib"),
}
# The Versions at which something of the zoo becomes expressible, lowest first.
TARGETS = ("0.9.0", "0.19.0", "1.0.0", "1.1.0", "1.4.0", "1.9.0", "current")
NEAR = 2e-6
_OTHER_BATCH = 7
_LONGEST, _SHOWN = 90, 80


def measure(backend: str) -> None:
    """Export and run every model, and note the result."""
    from portable.runtime.executors import find_executor
    from tools.zoo import DYNAMIC, STATIC

    found: dict[str, Any] = {"releases": {}, "static": {}, "dynamic": {}}
    for name in BACKENDS[backend]:
        found["releases"][name] = importlib.metadata.version(name)
    with find_executor("pjrt") as executor:
        for group, models in (("static", STATIC), ("dynamic", DYNAMIC)):
            for model in models:
                result = _measured(model, backend, executor)
                found[group][model.name] = {"what": model.what} | result
                print(group, model.name, result, flush=True)
    table = json.loads(MEASURED.read_text("utf-8")) if MEASURED.exists() else {}
    table[backend] = found
    ordered = {name: table[name] for name in BACKENDS if name in table}
    MEASURED.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


def agree(names: Collection[str]) -> None:
    """Run every model by eager PyTorch, AOTInductor and the artifact, and note who agrees.

    Args:
        names: `static mlp`, `dynamic mlp`, ...; those that are noted already stay, none means all.
    """
    from tools.zoo import DYNAMIC, STATIC

    noted = json.loads(AGREED.read_text("utf-8")) if names and AGREED.exists() else {}
    releases = {name: importlib.metadata.version(name) for name in BACKENDS["torchax"]}
    for group, models in (("static", STATIC), ("dynamic", DYNAMIC)):
        for model in models:
            name = f"{group} {model.name}"
            if names and name not in names:
                continue
            noted[name] = _agreement(model) | {"releases": releases}
            print(name, noted[name], flush=True)
            AGREED.write_text(json.dumps(noted, indent=1) + "\n", encoding="utf-8")


def _agreement(model: Model) -> dict[str, Any]:
    """Return whether all agree, on how many sets of inputs, and the worst distance by runner."""
    from portable.exporters.oracle import verify_export

    found = verify_export(
        model.module(),
        model.inputs(),
        target="0.9.0",
        dynamic_shapes=model.dynamic_shapes(),
        allow=["exact"],
    )
    runs: dict[str, int] = {}
    for opinion in found.opinions:
        runs[opinion.runner] = runs.get(opinion.runner, 0) + opinion.agrees
    target = str(found.exported.artifact.version)
    sets = len({opinion.inputs for opinion in found.opinions})
    return {"same": found.same, "target": target, "sets": sets, "agreed": runs}


def _measured(model: Model, backend: str, executor: Executor) -> dict[str, Any]:
    from portable.errors import PortableError
    from portable.exporters import export_torch
    from portable.pinning.pipeline import NotExpressible

    for target in TARGETS:
        try:
            exported = export_torch(
                model.module(),
                model.inputs(),
                target=target,
                dynamic_shapes=model.dynamic_shapes(),
                backend=backend,
                allow=["exact"],
            )
            far = max(_distance(model, exported, executor, batch) for batch in _batches(model))
        except NotExpressible:
            continue
        except PortableError as error:
            return {"failure": error.what.partition(";")[0][:_LONGEST]}
        return {"target": target, "difference": far}
    return {"failure": "no target"}


def _batches(model: Model) -> tuple[int, ...]:
    return (model.batch, _OTHER_BATCH) if model.dynamic else (model.batch,)


def _distance(model: Model, exported: Any, executor: Executor, batch: int) -> float:
    """Return how far the artifact is from eager: the largest absolute difference."""
    import numpy as np
    import torch

    inputs = model.inputs(batch)
    with torch.no_grad():
        eager = model.module()(*inputs)
    wanted = [tensor.numpy() for tensor in (eager if isinstance(eager, tuple) else (eager,))]
    got = exported(*(tensor.numpy() for tensor in inputs), executor=executor)
    assert [array.dtype for array in got] == [array.dtype for array in wanted]
    return max(
        float(np.abs(mine.astype(np.float64) - theirs).max())
        for mine, theirs in zip(got, wanted, strict=True)
    )


def page() -> str:
    """Return the page of the docs, from what was measured."""
    table = json.loads(MEASURED.read_text("utf-8"))
    lines = [
        "# The model zoo",
        "",
        "Made by `python -m tools model_zoo write` from what `measure` noted; do not edit.",
        "Each cell is the lowest target at which the model exports with `allow=['exact']`, and the",
        "largest absolute difference of what the artifact computes, on XLA's CPU client, to what",
        "PyTorch computes eagerly.",
        "",
    ]
    for backend, found in table.items():
        releases = ", ".join(f"{name} {version}" for name, version in found["releases"].items())
        good = {group: _good(found[group]) for group in ("static", "dynamic")}
        lines.append(
            f"- `{backend}` ({releases}): {good['static']} static models, "
            f"{good['dynamic']} with an open batch"
        )
    for group, title in (("static", "Static"), ("dynamic", "Open batch")):
        lines += ["", f"## {title}", "", f"| model | what is in it | {' | '.join(table)} |"]
        lines.append("|---" * (2 + len(table)) + "|")
        names = next(iter(table.values()))[group]
        for name, entry in names.items():
            cells = [_cell(found[group].get(name)) for found in table.values()]
            lines.append(f"| `{name}` | {entry['what']} | {' | '.join(cells)} |")
    lines += _agreements()
    lines += zoo_programs.page()
    return "\n".join(lines) + "\n"


def _agreements() -> list[str]:
    """Return the part of the page about the oracle."""
    noted = json.loads(AGREED.read_text("utf-8"))
    lines = [
        "",
        "## The oracle",
        "",
        "Noted by `python -m tools model_zoo agree`: `portable verify-export` at 0.9.0, by",
        "torchax. On how many sets of random inputs AOTInductor, and the artifact on XLA's CPU,",
        "agree with eager PyTorch in every output; models with an open batch are run at two sizes.",
        "",
        "| model | AOTInductor | artifact |",
        "|---|---|---|",
    ]
    for name, entry in noted.items():
        group, model = name.split()
        runs = entry["sets"]
        cells = [f"{entry['agreed'][runner]} of {runs}" for runner in ("aotinductor", "pjrt")]
        what = f"`{model}`" + (", open batch" if group == "dynamic" else "")
        lines.append(f"| {what} | {' | '.join(cells)} |")
    return lines


def _good(entries: dict[str, Any]) -> str:
    works = sum(entry.get("difference", 1) <= NEAR for entry in entries.values())
    return f"{works} of {len(entries)}"


def _cell(entry: dict[str, Any] | None) -> str:
    if entry is None:
        return "not measured"
    if "failure" in entry:
        failure = textwrap.shorten(entry["failure"], _SHOWN, placeholder=" ...")
        return failure.replace("|", "\\|").replace("<", "&lt;")
    return f"{entry['target']}, {entry['difference']:.1e}"


def main() -> int:
    """Measure, write, or check."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("measure").add_argument("backend", choices=sorted(BACKENDS))
    commands.add_parser("agree").add_argument("names", nargs="*")
    commands.add_parser("write").add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    if chosen.command == "measure":
        measure(chosen.backend)
        return 0
    if chosen.command == "agree":
        agree(chosen.names)
        return 0
    if chosen.check:
        if PAGE.read_text("utf-8") == page():
            return 0
        print(f"{PAGE} is not what was measured", file=sys.stderr)
        return 1
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
