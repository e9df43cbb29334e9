"""Rewrites that reach an older Version: ours, for what upstream's expander lacks.

Some reach no older Version, but readers that do not compile an op.

Each is allowed by its name. What it does, what it loses and how far it is exact stands in the table
of `portable.features.bridges`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.pinning.rewrites.catalogue import (
    EXACT,
    EXPANDED,
    REWRITES,
    Rewrite,
    UnknownRewrite,
    named,
)
from portable.pinning.rewrites.editor import DoesNotApply, Editor, NothingToDo

if TYPE_CHECKING:
    from collections.abc import Collection

    from portable.bindings import Library, Module
    from portable.version import Version

__all__ = [
    "EXACT",
    "EXPANDED",
    "REWRITES",
    "DoesNotApply",
    "NothingToDo",
    "Rewrite",
    "UnknownRewrite",
    "downgrade",
    "named",
    "refuse_idle",
]


def downgrade(
    library: Library, module: Module, target: Version, allow: Collection[str]
) -> dict[str, int]:
    """Rewrite what `target` lacks, as far as the rewrites that are allowed can.

    Args:
        library: The bindings of the module.
        module: Owned by the caller; rewritten in place.
        target: The Version to reach.
        allow: Names of rewrites, or `exact`.

    Returns:
        The rewrites that were applied, with the number of ops that each rewrote.

    Raises:
        UnknownRewrite: There is none of that name.
        DoesNotApply: One that is needed cannot be done.
    """
    chosen = named(allow)
    wanted = {name: REWRITES[name].needed(target) for name in REWRITES if name in chosen}
    done: dict[str, int] = {}
    with library.editing(module) as ir:
        editor = Editor(ir, module, target, library.run)
        found = editor.select(frozenset().union(*wanted.values()))
        for name, names in wanted.items():
            rewrite = REWRITES[name]
            affected = [
                operation
                for kind in sorted(names & found.keys())
                for operation in found[kind]
                if id(operation) not in editor.gone and rewrite.applies_to(editor, operation)
            ]
            if affected:
                rewrite.rewrite(editor, affected)
                done[name] = len(affected)
    return done


def refuse_idle(allow: Collection[str], done: Collection[str], target: Version) -> None:
    """Complain of rewrites that were named and had nothing to do: the name may be a mistake.

    Args:
        allow: As for `downgrade`.
        done: What was done.
        target: The Version that was to be reached.

    Raises:
        NothingToDo: One was named and not done.
    """
    idle = frozenset(allow) - set(done) - {EXACT}
    if idle:
        raise NothingToDo(idle, target)
