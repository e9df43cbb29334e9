"""What a Feature says can be done about it, against what upstream's expander does."""

from __future__ import annotations

import pytest

from portable.bytecode import read
from portable.features import Strictness, analyze
from tools.full_scan import Scanner, load_minimums
from tools.programs import load_programs

# The workaround itself says so: the table of Features cannot tell how the mesh is given.
_MESH_BY_NAME = {"all_reduce_mesh_function", "all_reduce_mesh_symbol"}


@pytest.fixture(scope="module")
def scanner() -> Scanner:
    """Return the installed jaxlib, driven without any code of `portable`."""
    return Scanner()


def test_features_name_the_expander_exactly_where_it_helps(scanner: Scanner) -> None:
    """A program can be brought lower if, and only if, all that holds it up names the expander."""
    minimums, expanded = load_minimums(), load_minimums("expanded")
    programs = [p for p in load_programs() if minimums[p.name] in scanner.targets]
    assert any(program.name in expanded for program in programs)
    wrong = []
    for program in programs:
        artifact = scanner.serialize(program.text, minimums[program.name])
        if artifact is None:
            continue
        needs = analyze(read(artifact), strictness=Strictness.UPSTREAM).minimum
        highest = [f for f in needs.features if f.version == needs.version]
        helps = bool(highest) and all("expander" in feature.workaround for feature in highest)
        if helps != (program.name in expanded):
            wrong.append(program.name)
    assert set(wrong) == _MESH_BY_NAME & {program.name for program in programs}
