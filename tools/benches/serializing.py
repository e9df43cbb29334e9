"""Writing artifacts: serialize, minimum and rewrites against the bare binding."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from tools.benches.figure import TARGET, Figure, compare, program, ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


__all__ = ["bench_downgrade", "bench_minimum", "bench_serialize"]


def bench_serialize() -> Iterator[Figure]:
    """Time `portable.serialize` against the bindings it protects from."""
    from jax.extend import mlir
    from jaxlib.mlir import passmanager
    from jaxlib.mlir.dialects import stablehlo

    import portable
    from portable import bindings
    from portable.pinning.pipeline import pin

    library = bindings.find("jaxlib")
    expand = f"builtin.module(stablehlo-compatibility-expander{{target={TARGET}}})"
    # A small program is serialized several times in a row: once would measure a cold cache, and too
    # long a row is never left alone by what else the machine does.
    for ops, rounds, calls in ((10, 100, 8), (1_000, 20, 4), (50_000, 6, 1)):
        module = library.parse(program(ops), library.context())
        text = str(module).encode()

        def bare(module: Any = module, calls: int = calls) -> Callable[[], object]:
            copies = [library.clone(module) for _ in range(calls)]

            def action() -> None:
                for copy in copies:
                    passes = passmanager.PassManager.parse(expand, context=copy.context)
                    passes.run(copy.operation)
                    stablehlo.serialize_portable_artifact(copy, TARGET)

            return action

        def ours(module: Any = module, calls: int = calls) -> Callable[[], object]:
            return lambda: [portable.serialize(module, TARGET) for _ in range(calls)]

        def pinned(module: Any = module, calls: int = calls) -> Callable[[], object]:
            return lambda: [pin(module, TARGET) for _ in range(calls)]

        def extend(text: bytes = text, calls: int = calls) -> Callable[[], object]:
            return lambda: [mlir.serialize_portable_artifact(text, TARGET) for _ in range(calls)]

        mine, strict, theirs, jax = compare(ours, pinned, bare, extend, rounds=rounds)
        yield ratio(f"serialize {ops} ops / expander + bare binding", 1.5, mine, theirs)
        yield ratio(f"serialize {ops} ops / jax.extend.mlir", 0.45, mine, jax)
        yield ratio(f"pin, strictly re-read, {ops} ops / jax.extend.mlir", 0.6, strict, jax)
    yield _text()


def _text() -> Figure:
    """Time what a warm child costs beyond the work itself, which this process would do."""
    import portable
    from portable import bindings

    library = bindings.find("jaxlib")
    text = program(10)

    def in_child() -> Callable[[], object]:
        return lambda: portable.serialize(text, TARGET)

    def here() -> Callable[[], object]:
        return lambda: portable.serialize(library.parse(text, library.context()), TARGET)

    child, own = compare(in_child, here, rounds=200)
    detail = f"({child * 1000:.2f} / {own * 1000:.2f} ms)"
    return Figure("serialize 10 ops of text / here", (child - own) * 1000, 2.0, "ms", detail=detail)


def bench_minimum() -> Iterator[Figure]:
    """Time `portable.minimum` against one bare serialize."""
    from jaxlib.mlir.dialects import stablehlo

    import portable
    from portable import bindings

    library = bindings.find("jaxlib")
    module = library.parse(program(50_000), library.context())

    def bare() -> Callable[[], object]:
        copy = library.clone(module)
        current = stablehlo.get_current_version()
        return lambda: stablehlo.serialize_portable_artifact(copy, current)

    mine, theirs = compare(lambda: lambda: portable.minimum(module), bare, rounds=6)
    yield ratio("minimum of 50k ops / one bare serialize", 2.2, mine, theirs)


def _composites(ops: int, every: int) -> str:
    """Write `program(ops)` with a composite behind each `every` ops."""
    shape = "tensor<64x64xf32>"
    lines, count = [], 0
    for line in program(ops).splitlines():
        lines.append(line)
        if line.startswith("%") and not int(line[1 : line.index(" ")]) % every:
            lines.append(
                f'%c{count} = stablehlo.composite "my.op" {line.split()[0]} '
                f"{{decomposition = @impl}} : ({shape}) -> {shape}"
            )
            count += 1
    body = f"%0 = stablehlo.tanh %x : {shape}\nreturn %0 : {shape}"
    return f"func.func private @impl(%x: {shape}) -> {shape} {{\n{body}\n}}\n" + "\n".join(lines)


def _blocks(count: int) -> str:
    """Write a residual network of about `14 * count` ops with a composite in each block.

    Its 11 million weights are constants, as those of ResNet-18 are where they are not arguments.
    """
    image, kernel = "tensor<1x56x56x320xf32>", "tensor<3x3x320x320xf32>"
    numbers = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"
    convolution = (
        f"dim_numbers = {numbers}, window = {{pad = [[1, 1], [1, 1]]}}"
        " {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
        f" : ({image}, {kernel}) -> {image}"
    )
    lines, last = [], "%x"
    for n in range(count):
        data = (n + 1).to_bytes(4, "little").hex() + "00" * (3 * 3 * 320 * 320 * 4 - 4)
        lines.append(f'%w{n} = stablehlo.constant dense<"0x{data}"> : {kernel}')
        for half in "ab":
            name = f"{half}{n}"
            lines += [
                f"%c{name} = stablehlo.convolution({last}, %w{n}) {convolution}",
                f"%m{name} = stablehlo.multiply %c{name}, %s : {image}",
                f"%n{name} = stablehlo.add %m{name}, %s : {image}",
                f"%r{name} = stablehlo.maximum %n{name}, %z : {image}",
                f"%d{name} = stablehlo.add %r{name}, {last} : {image}",
            ]
            last = f"%d{name}"
        lines.append(
            f'%p{n} = stablehlo.composite "my.op" {last} {{decomposition = @impl}}'
            f" : ({image}) -> {image}"
        )
        last = f"%p{n}"
    body = "\n".join(lines)
    return f"""
    func.func private @impl(%x: {image}) -> {image} {{
      %0 = stablehlo.tanh %x : {image}
      return %0 : {image}
    }}
    func.func @main(%x: {image}, %s: {image}) -> {image} {{
      %z = stablehlo.constant dense<0.0> : {image}
      {body}
      return {last} : {image}
    }}"""


def bench_downgrade() -> Iterator[Figure]:
    """Time a pin to 0.9.0 by rewrites against the binding's own serialize of the same program.

    The other side writes what a plain serialize can: the program as it is, at the current Version.
    Nothing writes it at 0.9.0 without the rewrites. By the clock of the process.
    """
    from jaxlib.mlir.dialects import stablehlo

    import portable
    from portable import bindings

    library = bindings.find("jaxlib")
    current = str(library.current.target)
    programs = (
        ("300 ops", _composites(300, 100), 20, 10, 1.75),
        ("ResNet-18-sized", _blocks(12), 20, 4, 1.5),
        ("50k ops", _composites(50_000, 100), 8, 1, 1.5),
    )
    for name, text, rounds, calls, limit in programs:
        module = library.parse(text, library.context())

        def bare(module: Any = module, calls: int = calls) -> Callable[[], object]:
            copies = [library.clone(module) for _ in range(calls)]
            return lambda: [stablehlo.serialize_portable_artifact(copy, current) for copy in copies]

        def plain(module: Any = module, calls: int = calls) -> Callable[[], object]:
            return lambda: [portable.serialize(module, "current") for _ in range(calls)]

        def rewritten(module: Any = module, calls: int = calls) -> Callable[[], object]:
            return lambda: [
                portable.serialize(module, "0.9.0", allow=["exact"]) for _ in range(calls)
            ]

        base, theirs, ours = compare(plain, bare, rewritten, rounds=rounds, clock=time.process_time)
        yield ratio(f"0.9.0 by rewrites / serialize as it is, {name}", limit, ours, base)
        yield ratio(f"0.9.0 by rewrites / bare binding, {name}", 2.0, ours, theirs)
