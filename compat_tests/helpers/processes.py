"""Run a program on several processes of StableHLO's reference interpreter, all in one child.

It is the one Executor that runs every collective, by the specification; its `run_parallel` belongs
to no Version, so the program is wrapped here. Runs in any environment with a jaxlib from 0.8.0 on.

The child reads arrays: `program`, the bytes of an artifact; `grid`, how many replicas and
partitions; then `0`, `1`, ..., the arguments. It writes the results in the same way.
"""

import io
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np


def save(stream: Any, **arrays: Any) -> None:
    """Write arrays under their names."""
    np.savez(stream, **arrays)


def interpret_replicated(
    program: bytes,
    arguments: Sequence[np.ndarray[Any, Any]],
    *,
    partitions: bool = False,
    python: str | Path = sys.executable,
) -> list[Any]:
    """Run a program once for each process that there are arguments for.

    Args:
        program: A portable artifact; takes and returns numbers that numpy has.
        arguments: The arguments, for all runs: axes of runs and processes come first.
        partitions: Whether the processes are partitions of one replica, not replicas.
        python: Of an environment with a jaxlib that reads the program.

    Returns:
        The results, with the same two axes in front.
    """
    count = arguments[0].shape[1]
    given = io.BytesIO()
    grid = [1, count] if partitions else [count, 1]
    numbered = {str(number): array for number, array in enumerate(arguments)}
    save(given, program=np.frombuffer(program, np.uint8), grid=np.array(grid), **numbered)
    done = subprocess.run(
        [str(python), __file__], input=given.getvalue(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    results = np.load(io.BytesIO(done.stdout))
    return [results[str(number)] for number in range(len(results.files))]


def _main() -> None:
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import stablehlo

    given = np.load(io.BytesIO(sys.stdin.buffer.read()))
    context = ir.Context()
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    stablehlo.register_dialect(context)
    stablehlo.register_interpreter_dialect(context)
    arguments = [given[str(number)] for number in range(len(given.files) - 2)]
    replicas, partitions = given["grid"].tolist()
    runs = []
    with context, ir.Location.unknown():
        for run in range(len(arguments[0])):
            module = stablehlo.deserialize_portable_artifact(context, given["program"].tobytes())
            results = _wrap(module, ir, replicas, partitions)
            values = [
                ir.DenseElementsAttr.get(
                    np.ascontiguousarray(array[run, process]), signless=array.dtype.kind != "u"
                )
                for process in range(replicas * partitions)
                for array in arguments
            ]
            made = [np.array(value) for value in stablehlo.eval_module(module, values)]
            runs.append([np.stack(made[place::results]) for place in range(results)])
    columns = [np.stack(column) for column in zip(*runs, strict=True)]
    save(sys.stdout.buffer, **{str(number): array for number, array in enumerate(columns)})


def _wrap(module: Any, ir: Any, replicas: int, partitions: int) -> int:
    """Put a `main` around the program that runs it on every process; return how many results."""
    (main,) = (
        operation.operation
        for operation in module.body.operations
        if ir.StringAttr(operation.attributes["sym_name"]).value == "main"
    )
    kind = ir.TypeAttr(main.attributes["function_type"]).value
    main.attributes["sym_name"] = ir.StringAttr.get("one")
    count = replicas * partitions
    takes, gives = (list(map(str, types)) * count for types in (kind.inputs, kind.results))
    names = [f"%a{number}" for number in range(len(takes))]
    results = ", ".join(f"%0#{number}" for number in range(len(gives)))
    grid = ", ".join([f"[{', '.join(['@one'] * partitions)}]"] * replicas)
    signature = ", ".join(f"{name}: {type_}" for name, type_ in zip(names, takes, strict=True))
    wrapper = ir.Module.parse(
        f"""
        func.func private @one({", ".join(map(str, kind.inputs))})
            -> ({", ".join(map(str, kind.results))})
        func.func @main({signature}) -> ({", ".join(gives)}) {{
          %0:{len(gives)} = "interpreter.run_parallel"({", ".join(names)}) {{programs = [{grid}]}}
            : ({", ".join(takes)}) -> ({", ".join(gives)})
          return {results} : {", ".join(gives)}
        }}"""
    )
    module.body.append(list(wrapper.body.operations)[-1].operation.clone())
    return len(kind.results)


if __name__ == "__main__":
    _main()
