"""Transformations of ATen graphs: each computes what it should, and the program stays as it was."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import portable
from portable.exporters import export_torch
from portable.exporters.aten import (
    PassFailed,
    decompose,
    decompositions_below,
    fuse,
    matches,
    remove,
    rename,
    scalars_to_tensors,
    transform,
)
from portable.exporters.partition import partition_by_target
from portable.version import Version

RUNS = 100
OLDEST = Version(0, 9, 0)


def exported(function: Any, *inputs: Any, shapes: Any = None) -> Any:
    """Trace a function."""

    class Model(nn.Module):
        def forward(self, *given: Any) -> Any:
            return function(*given)

    names = None if shapes is None else (shapes,)
    return torch.export.export(Model().eval(), inputs, dynamic_shapes=names)


def ops(program: Any) -> list[str]:
    """Return the names of the ops that a program calls."""
    return [
        str(node.target)
        for node in program.graph.nodes
        if isinstance(node.target, torch._ops.OpOverload)
    ]


def same(one: Any, other: Any, *shapes: tuple[int, ...]) -> None:
    """Run two programs on a hundred random inputs and compare the bits."""
    first, second = one.module(), other.module()
    generator = torch.Generator().manual_seed(0)
    for _ in range(RUNS):
        given = [torch.randn(*shape, generator=generator) for shape in shapes]
        a, b = first(*given), second(*given)
        for x, y in zip(_leaves(a), _leaves(b), strict=True):
            assert torch.equal(x, y)


def _leaves(value: Any) -> Any:
    return value if isinstance(value, (tuple, list)) else [value]


def test_one_to_one() -> None:
    """Another op in the place of one; what was traced stays as it was."""
    program = exported(torch.relu, torch.randn(4))
    before = str(program.graph)
    changed = transform(program, rename({torch.ops.aten.relu.default: torch.ops.aten.abs.default}))
    assert ops(changed) == ["aten.abs.default"]
    assert str(program.graph) == before
    same(changed, exported(torch.abs, torch.randn(4)), (4,))


def test_one_to_none() -> None:
    """What hands on its argument goes, also where it is what the program returns."""
    aten = torch.ops.aten
    program = exported(lambda x: torch.relu(x.detach()).detach(), torch.randn(4))
    changed = transform(program, remove({aten.detach.default, aten.alias.default}))
    assert "detach" in "".join(ops(program))
    assert ops(changed) == ["aten.relu.default"]
    same(program, changed, (4,))


def test_local_information() -> None:
    """A number becomes a tensor of the dtype that the op answers in; nothing is promoted."""
    aten = torch.ops.aten
    program = exported(lambda x: (x + 1) * 0.3, torch.randn(4))
    changed = transform(program, scalars_to_tensors({aten.add.Tensor, aten.mul.Tensor}))
    assert ops(changed).count("aten.full.default") == 2
    assert {str(n.meta["val"].dtype) for n in changed.graph.nodes if n.op == "call_function"} == {
        "torch.float32"
    }
    same(program, changed, (4,))
    assert export_torch(changed, target="0.9.0").artifact.version == OLDEST


def _scaled(x: Any, y: Any) -> Any:
    return torch.ops.aten.add.Tensor(torch.ops.aten.mul.Tensor(x, y), y)


def _factored(x: Any, y: Any) -> Any:
    return torch.ops.aten.addcmul.default(y, x, y)


def test_many_to_one_with_a_filter() -> None:
    """A subgraph becomes one op where the filter agrees: here, where the factor is a matrix."""

    def matrix(match: Any, _graph: Any, _pattern: Any) -> bool:
        return all(node.meta["val"].dim() == 2 for node in match.placeholder_nodes)

    def model(x: Any, y: Any, z: Any) -> Any:
        return x * y + y, x[0] * z + z

    inputs = torch.randn(3, 4), torch.randn(3, 4), torch.randn(4)
    program = exported(model, *inputs)
    assert [len(found) for found in matches(program, _scaled)] == [2, 2]
    changed = transform(program, fuse(_scaled, _factored, matrix))
    assert ops(changed).count("aten.addcmul.default") == 1
    assert len(matches(changed, _scaled)) == 1
    for node in changed.graph.nodes:
        if node.op == "call_function":
            assert node.meta["val"] is not None
    one, other = program.module()(*inputs), changed.module()(*inputs)
    for x, y in zip(one, other, strict=True):
        torch.testing.assert_close(x, y)


def test_checks_stop_what_goes_wrong() -> None:
    """After each pass; the error is one line, and the program is as it was."""

    def no_abs(module: Any) -> None:
        if any("abs" in str(node.target) for node in module.graph.nodes):
            raise ValueError("abs is not allowed")

    program = exported(torch.relu, torch.randn(4))
    before = str(program.graph)
    swap = rename({torch.ops.aten.relu.default: torch.ops.aten.abs.default})
    with pytest.raises(PassFailed, match=r"abs is not allowed.*not changed"):
        transform(program, swap, checks=[no_abs])
    assert str(program.graph) == before
    assert ops(transform(program, swap)) == ["aten.abs.default"]


def test_a_pass_that_breaks_the_program_is_refused() -> None:
    """One that raises, and one that leaves a graph which is none."""
    program = exported(lambda x: torch.relu(x) + x, torch.randn(4))
    before = str(program.graph)

    def raises(_module: Any) -> bool:
        raise KeyError("a mistake")

    def backwards(module: Any) -> bool:
        nodes = [node for node in module.graph.nodes if node.op == "call_function"]
        nodes[-1].append(nodes[0])  # used before it is computed
        return True

    for broken in (raises, backwards):
        with pytest.raises(PassFailed):
            transform(program, broken)
    assert str(program.graph) == before


def test_decompositions_reach_0_9_0() -> None:
    """Dynamic top-k, and tan: exact for the one, near for the other as for upstream's expander."""

    def model(x: Any) -> Any:
        values, places = torch.topk(x, 3)
        return values, places

    batch = torch.export.Dim("batch", min=2, max=64)
    program = exported(model, torch.randn(4, 8), shapes=({0: batch},))
    with pytest.raises(portable.NotExpressible):
        export_torch(program, target="0.9.0")
    changed = decompose(program, OLDEST)
    assert "aten.topk.default" not in ops(changed)
    made = export_torch(changed, target="0.9.0")
    assert made.artifact.version == OLDEST
    same(program, changed, (5, 8))

    program = exported(torch.tan, torch.randn(4))
    changed = decompose(program, OLDEST)
    assert ops(changed) == ["aten.sin.default", "aten.cos.default", "aten.div.Tensor"]
    given = torch.linspace(-1.5, 1.5, 4)
    torch.testing.assert_close(program.module()(given), changed.module()(given), rtol=3e-7, atol=0)


def test_only_what_the_target_lacks_is_decomposed() -> None:
    """At 1.4.0 there is a tan, at 0.19.0 a composite for top-k."""
    names = {str(op) for op in decompositions_below(Version(1, 0, 0))}
    assert names == {"aten.tan.default"}
    assert not decompositions_below(Version(1, 4, 0))


def test_the_part_that_blocks_a_target_is_named() -> None:
    """With the line of the model; what lies before and behind it reaches the target."""

    def model(x: Any) -> Any:
        values, _ = torch.topk(torch.relu(x * 2), 3)
        return values + 1

    batch = torch.export.Dim("batch", min=2, max=64)
    program = exported(model, torch.randn(4, 8), shapes=({0: batch},))
    before = str(program.graph)
    found = partition_by_target(program, OLDEST)
    (part,) = found.parts
    assert part.nodes[0] == "topk"
    assert part.needs is not None
    assert part.needs > OLDEST
    assert part.features
    assert part.where is not None
    assert "test_aten.py" in part.where
    assert {"mul", "relu", "add"} <= {name.split("_")[0] for p in found.free for name in p.nodes}
    assert str(program.graph) == before
    assert not partition_by_target(decompose(program, OLDEST), OLDEST).parts
