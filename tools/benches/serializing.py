"""Writing artifacts: serialize, minimum and rewrites against the bare binding."""

from __future__ import annotations

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
    from portable import libstablehlo
    from portable.pin import pin

    library = libstablehlo.find("jaxlib")
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


def bench_minimum() -> Iterator[Figure]:
    """Time `portable.minimum` against one bare serialize."""
    from jaxlib.mlir.dialects import stablehlo

    import portable
    from portable import libstablehlo

    library = libstablehlo.find("jaxlib")
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


def bench_downgrade() -> Iterator[Figure]:
    """Time a serialize with rewrites against one for a target that needs none."""
    import portable
    from portable import libstablehlo

    library = libstablehlo.find("jaxlib")
    for ops, rounds, calls in ((300, 15, 10), (50_000, 8, 1)):
        module = library.parse(_composites(ops, 100), library.context())

        def plain(module: Any = module, calls: int = calls) -> Callable[[], object]:
            return lambda: [portable.serialize(module, TARGET) for _ in range(calls)]

        def rewritten(module: Any = module, calls: int = calls) -> Callable[[], object]:
            return lambda: [
                portable.serialize(module, "0.9.0", allow=["exact"]) for _ in range(calls)
            ]

        base, ours = compare(plain, rewritten, rounds=rounds)
        yield ratio(f"serialize with rewrites / without, {ops} ops", 1.5, ours, base)
