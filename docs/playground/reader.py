"""What the playground shows of files, as plain data for its page.

`portable` reads them, in the browser. The page calls `call(name, arguments)`, in JSON both ways.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from portable.artifact import Artifact
from portable.bytecode.content import read
from portable.bytecode.layouts import VHLO
from portable.bytecode.vhlo import has_op, op
from portable.containers import Kind, open_path
from portable.containers.finding import Fate, find
from portable.errors import PortableError
from portable.escaping import json_text
from portable.inspection import inspect
from portable.prediction import examine, predict_all
from portable.releases import named_consumers, releases, resolve_target
from portable.verdict import Outcome, Stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.bytecode import Bytecode
    from portable.containers import Container, Entry
    from portable.features import Feature
    from portable.inspection import Inspection
    from portable.releases import Release
    from portable.verdict import Verdict

__all__ = ["call"]

MOST_NODES = 300
"""How many operations the graph shows."""
MOST_FILES = 200
"""How many artifacts of a folder are listed."""
# These stand first on the map.
_FIRST = ("jaxlib", "tensorflow", "torch-xla", "iree-base-compiler")

_SAYS = {
    Kind.TEXT: "This is text. If it is a StableHLO program, `portable pin` makes it an artifact.",
    Kind.EMPTY: "The file is empty.",
    Kind.UNKNOWN: "This is no StableHLO artifact, no container of some, and no runtime.",
    Kind.BYTECODE: "This is MLIR bytecode without a compatibility promise: only the release that "
    "wrote it is sure to read it. `portable pin` makes it an artifact.",
}


def call(name: str, arguments: str) -> str:
    """Answer the page.

    Args:
        name: `found`, `look`, `choose` or `compare`.
        arguments: What it takes, as a JSON array.

    Returns:
        A JSON object with `answer`, or `error`: one line.
    """
    functions = {one.__name__: one for one in (found, look, choose, compare)}
    try:
        return json_text({"answer": functions[name](*json.loads(arguments))})
    except (PortableError, OSError) as error:
        return json_text({"error": str(error)})


def found(folder: str) -> list[dict[str, str]]:
    """List what was dropped.

    Args:
        folder: Where it lies.

    Returns:
        For each artifact, and each file that holds none, the `path` and the `entry` in it, and
        what to call it.
    """
    names = os.listdir(folder)
    alone = f"{folder}/{names[0]}" if len(names) == 1 else folder
    if os.path.isdir(alone):
        listed = [
            _entries(one.path, one.container) for one in find([alone]) if one.fate is Fate.ARTIFACT
        ]
    else:
        listed = [_entries(alone, None)]
    shown = [one for entries in listed for one in entries][:MOST_FILES]
    return [one | {"label": one["label"].removeprefix(f"{folder}/")} for one in shown]


def _entries(path: str, container: Container | None) -> list[dict[str, str]]:
    try:
        opened = container or open_path(path)
        names = [entry.name for entry in opened.artifacts()]
    except PortableError:
        names = [""]  # `look` says what is wrong with it
    return [
        {"path": path, "entry": name, "label": f"{path}: {name}" if name else path}
        for name in names
    ]


def look(path: str, entry: str) -> dict[str, object]:
    """Say everything about one artifact, or about a file that is none.

    Args:
        path: The file or directory.
        entry: The name of the artifact in a container; empty for a plain file.

    Returns:
        What it is, in one sentence and as `Inspection.record`; of an artifact also its ops, its
        graph, and what becomes of it on each Release.
    """
    whole = inspect(path)
    found = whole.artifacts.get(entry, whole)
    record = found.record() | {"container": str(whole.kind) if found is not whole else ""}
    if found.kind is not Kind.ARTIFACT or found.damage:
        return {"says": _says(found), "inspection": record}
    container, artifact = _artifact(path, entry)
    content = read(artifact.data)
    subject = replace(examine(artifact), opener=container.opener)
    known = sorted(releases(), key=_place)
    verdicts = predict_all(subject, known)
    states = [_state(verdict) for verdict in verdicts]
    return {
        "says": _judged(found, container, verdicts, states),
        "inspection": record,
        "ops": _ops(found),
        "graph": _graph(content),
        "consumers": [
            {
                "distribution": release.distribution,
                "version": str(release.version),
                "state": state,
                "says": verdict.says,
                "reason": verdict.reason,
                "unknown": [one.what for one in verdict.not_known],
                "has": str(release.current),
            }
            for release, verdict, state in zip(known, verdicts, states, strict=True)
        ],
    }


def _place(release: Release) -> tuple[int, str]:
    name = release.distribution
    return (_FIRST.index(name) if name in _FIRST else len(_FIRST), name)


def _artifact(path: str, entry: str) -> tuple[Container, Artifact]:
    container = open_path(path)
    chosen: Entry = next(one for one in container.artifacts() if one.name == entry)
    return container, Artifact.from_bytes(chosen.data)


def _says(found: Inspection) -> str:
    if found.damage:
        return f"This is a damaged {found.kind}: {found.damage}."
    if found.runtime:
        return f"This is a runtime: its libStablehlo has StableHLO {found.runtime.bracket}."
    return _SAYS.get(found.kind, f"This is a {found.kind}.")


def _judged(
    found: Inspection, container: Container, verdicts: Sequence[Verdict], states: Sequence[str]
) -> str:
    inside = f" in a {container.kind}" if container.opener else ""
    claims = f"written for StableHLO {found.claimed}" if found.claimed else "that claims no Version"
    required = found.required.version if found.required else None
    needs = f"need {required}" if required else "need what is not known"
    return (
        f"A portable artifact{inside}, {claims}; its bytes {needs}. "
        f"{Counter(states)['reads']} of {len(verdicts)} known Releases read it."
    )


def _state(verdict: Verdict) -> str:
    """Return `reads`, `refuses` (does not open or read it), `fails` (later), or `unknown`."""
    if verdict.outcome not in {Outcome.COMPATIBLE, Outcome.NOT_KNOWN}:
        return "refuses" if verdict.stage <= Stage.DECODE else "fails"
    return "reads" if verdict.holds(Stage.DECODE) else "unknown"


def _ops(found: Inspection) -> list[dict[str, object]]:
    """List each op with the Versions that know its form, and whether it forces the required one."""
    forced = {
        feature.name: str(feature.version)
        for feature in (found.required.features if found.required else ())
    }
    listed = []
    for name, count in found.operations.items():
        dialect, _, form = name.partition(".")
        lifetime = op(form).lifetime if dialect == VHLO and has_op(form) else None
        listed.append(
            {
                "name": name,
                "count": count,
                "since": lifetime.since if lifetime else "",
                "until": (lifetime.until or "") if lifetime else "",
                "forces": forced.get(form, ""),
            }
        )
    return listed


def _features(found: Inspection) -> Sequence[Feature]:
    return found.required.features if found.required else ()


def _graph(content: Bytecode) -> dict[str, object]:
    """Lay out the operations of functions: what is inside of one counts as it."""
    # The operation of a function that each operation is, or is in.
    owner: dict[int, int] = {}
    nodes: list[dict[str, object]] = []
    edges: set[tuple[int, int]] = set()
    ranks: list[int] = []
    total = 0
    for number, (operation, sources) in enumerate(content.uses()):
        if operation.depth < 2:
            continue  # the module, and its functions
        if operation.depth == 2:
            total += 1
            if len(nodes) == MOST_NODES:
                continue
            nodes.append({"name": content.names[operation.name].name})
            ranks.append(0)
        if not nodes or total > MOST_NODES:
            continue
        here = owner[number] = len(nodes) - 1
        for source in filter(None, sources):
            if (there := owner.get(source[0], here)) != here:
                edges.add((there, here))
                ranks[here] = max(ranks[here], ranks[there] + 1)
    columns: Counter[int] = Counter()
    for node, rank in zip(nodes, ranks, strict=True):
        node |= {"rank": rank, "column": columns[rank]}
        columns[rank] += 1
    return {"nodes": nodes, "edges": sorted(edges), "total": total}


def choose(path: str, entry: str, specs: list[str]) -> dict[str, object]:
    """Say which target is right for some consumers, and whether this artifact will do.

    Args:
        path: The file or directory.
        entry: The name of the artifact in a container.
        specs: The consumers.

    Returns:
        The target, and sentences; `consumers`, those that are meant.
    """
    target = resolve_target(*specs)
    container, artifact = _artifact(path, entry)
    named = named_consumers(*specs)
    subject = replace(examine(artifact), opener=container.opener)
    verdicts = predict_all(subject, named.releases)
    good = sum(_state(verdict) == "reads" for verdict in verdicts)
    lines = [
        f"The target for these consumers is {target.version}: {target.reason}.",
        f"{good} of {len(verdicts)} read this artifact, with no known failure later."
        if verdicts
        else "",
    ]
    pinned = inspect(artifact).minimum
    if good < len(verdicts) and pinned and pinned.version:
        within = pinned.version <= target.version
        lines.append(
            "Rewritten for that target, it would do."
            if within
            else f"The program needs at least {pinned.version}, unless rewrites are allowed."
        )
    return {
        "version": str(target.version),
        "lines": [line for line in [*lines, *target.caveats, *named.uncovered] if line],
        "consumers": [str(release) for release in named.releases],
    }


def compare(first: list[str], second: list[str]) -> dict[str, object]:
    """Compare two artifacts.

    Args:
        first: The path of one, and the entry.
        second: Those of the other.

    Returns:
        Whether they are the same program, ops that were added, removed or occur at another number,
        and what each needs.
    """
    sides = [inspect(_artifact(*side)[1], fingerprint=True) for side in (first, second)]
    before, after = (side.operations for side in sides)
    return {
        "same": sides[0].fingerprint == sides[1].fingerprint,
        "ops": [
            {"name": name, "before": before.get(name, 0), "after": after.get(name, 0)}
            for name in sorted(before.keys() | after.keys())
            if before.get(name, 0) != after.get(name, 0)
        ],
        "sides": [
            {
                "claimed": str(side.claimed or ""),
                "required": str(side.required.version or "") if side.required else "",
                "features": [f"{one.name} ({one.version})" for one in _features(side)],
            }
            for side in sides
        ],
    }
