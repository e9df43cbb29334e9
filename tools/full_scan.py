"""Find each Program's lowest target the slow and certain way: serialize it at every target.

Nothing of `portable` is used, so that the answer can judge it: only jaxlib's own bindings, a fresh
parse for every attempt (serializing rewrites the module in place), then the bare
`serialize_portable_artifact`; and once more with upstream's compatibility expander before it.

Run by the newest jaxlib, because an older one cannot express the newer programs:

    python -m tools full_scan            write compat_tests/data/minimum_targets.json
    python -m tools full_scan --check    observe again, exit 1 if anything differs
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.programs import load_programs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


__all__ = ["TARGETS", "Scanner", "load_minimums"]

DATA = Path(__file__).parent.parent / "compat_tests" / "data" / "minimum_targets.json"
# Every minor that upstream's version log knows; 0.13 and 1.17 included.
TARGETS = (*(f"0.{n}.0" for n in range(9, 21)), *(f"1.{n}.0" for n in range(23)))
# Serializes at no target unless other dialects are allowed.
NEVER = "never"
_ORDER = (*TARGETS, NEVER)


class Scanner:
    """Serializes programs with the installed jaxlib, in one context."""

    def __init__(self) -> None:
        from jaxlib.mlir import ir, passmanager
        from jaxlib.mlir._mlir_libs import _jax_mlir_ext
        from jaxlib.mlir.dialects import chlo, sdy, stablehlo

        registry = ir.DialectRegistry()
        _jax_mlir_ext.register_dialects(registry)
        self._ir: Any = ir
        self._stablehlo: Any = stablehlo
        self.context: Any = ir.Context()
        self.context.append_dialect_registry(registry)
        for dialect in (chlo, sdy, stablehlo):
            dialect.register_dialect(self.context)
        stablehlo.register_stablehlo_passes()
        self.context.attach_diagnostic_handler(lambda _: True)
        self.context.emit_error_diagnostics = True
        # Loads quant and vhlo, which no registry names.
        stablehlo.deserialize_portable_artifact(self.context, b"")
        with self.context:
            self._expanders = {
                target: passmanager.PassManager.parse(
                    f"builtin.module(stablehlo-compatibility-expander{{target={target}}})"
                )
                for target in self.targets
            }

    @property
    def current(self) -> str:
        """The Version that this jaxlib writes."""
        return str(self._stablehlo.get_current_version())

    @property
    def targets(self) -> tuple[str, ...]:
        """Every target that this jaxlib may write for."""
        newest = self.current.rpartition(".")[0] + ".0"
        return TARGETS[: TARGETS.index(newest) + 1]

    @property
    def parse_error(self) -> type[Exception]:
        """What `parse` raises."""
        error: type[Exception] = self._ir.MLIRError
        return error

    def parse(self, text: str) -> Any:
        """Parse and verify a program."""
        return self._ir.Module.parse(text, self.context)

    def refusal(self, attribute: str) -> str:
        """Parse an attribute and return what the parser says against it."""
        said: list[str] = []

        def listen(diagnostic: Any) -> bool:
            said.append(diagnostic.message)
            return True

        handler = self.context.attach_diagnostic_handler(listen)
        try:
            self._ir.Attribute.parse(attribute, self.context)
        except self._ir.MLIRError:
            return "; ".join(said)
        finally:
            handler.detach()
        return ""

    def function_type(self, text: str, name: str) -> Any:
        """Return the type of a function of the program, or None if it has no such function."""
        for op in self.parse(text).body.operations:
            attributes = op.operation.attributes
            if op.operation.name == "func.func" and attributes["sym_name"].value == name:
                return self._ir.FunctionType(attributes["function_type"].value)
        return None

    def serialize(
        self,
        text: str,
        target: str,
        *,
        expand: bool = False,
        mixed: bool = False,
        sourceless: bool = False,
    ) -> bytes | None:
        """Write the program for a target, or return None when libStablehlo refuses.

        Args:
            text: MLIR text.
            target: A Version `X.Y.0`.
            expand: Run upstream's compatibility expander first.
            mixed: Allow ops of other dialects.
            sourceless: Forget the locations that the parser made up, those in `"-"`; the ones the
                program states stay.
        """
        module = self.parse(text)
        if sourceless:
            self.sourceless(module)
        if expand:
            with self.context:
                self._expanders[target].run(module.operation)
        try:
            return bytes(self._stablehlo.serialize_portable_artifact(module, target, mixed))
        except ValueError:
            return None

    def raw(self, artifact: bytes) -> str | None:
        """Print the VHLO of an artifact as it is, in generic form; None if it does not parse."""
        try:
            module = self._ir.Module.parse(artifact, self.context)
        except self._ir.MLIRError:
            return None
        stream = io.StringIO()
        module.operation.print(file=stream, print_generic_op_form=True, enable_debug_info=False)
        return stream.getvalue()

    def sourceless(self, module: Any) -> Any:
        """Forget the locations that the parser made up, in place, and return the module."""
        self._forget_source(module.operation)
        return module

    def _forget_source(self, operation: Any) -> None:
        unknown = self._ir.Location.unknown(operation.context)
        if '"-":' in str(operation.location):
            operation.location = unknown
        for region in operation.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    if '"-":' in str(argument.location):
                        argument.set_location(unknown)
                for inner in block.operations:
                    self._forget_source(inner.operation)

    def canonical(self, artifact: bytes, *, locations: bool = False) -> str | None:
        """Read an artifact and print its program after one round trip through the current Version.

        The round trip brings what different producers wrote to one form: then equal programs have
        equal texts.

        Args:
            artifact: The bytes.
            locations: Whether the text includes them.

        Returns:
            The text, or None when libStablehlo refuses the artifact.
        """
        try:
            module = self._stablehlo.deserialize_portable_artifact(self.context, artifact)
            again = bytes(self._stablehlo.serialize_portable_artifact(module, self.current, True))
            module = self._stablehlo.deserialize_portable_artifact(self.context, again)
        except ValueError:
            return None
        return _text(module, locations=locations)

    def printed(self, text: str) -> str:
        """Print a program again, without locations."""
        return _text(self.parse(text), locations=False)

    def minimum(self, text: str, *, expand: bool = False) -> str:
        """Serialize at every target and return the lowest that succeeds, or `never`.

        Args:
            text: MLIR text.
            expand: Run upstream's compatibility expander before each attempt.

        Raises:
            AssertionError: A target fails above one that succeeds.
        """
        written = {
            target: self.serialize(text, target, expand=expand) is not None
            for target in self.targets
        }
        lowest = next((target for target, is_written in written.items() if is_written), NEVER)
        assert lowest == NEVER or all(list(written.values())[TARGETS.index(lowest) :]), written
        return lowest


def _text(module: Any, *, locations: bool) -> str:
    stream = io.StringIO()
    module.operation.print(file=stream, enable_debug_info=locations)
    return stream.getvalue()


def load_minimums(key: str = "minimum") -> dict[str, str]:
    """Read the derived file: lowest target by Program name.

    Args:
        key: `minimum`, of all programs as they are, or `expanded`, of those that upstream's
            compatibility expander brings lower.
    """
    by_target: Mapping[str, Iterable[str]] = json.loads(DATA.read_text("utf-8"))[key]
    return {name: target for target, names in by_target.items() for name in names}


def _observe() -> dict[str, object]:
    scanner = Scanner()
    minimum: dict[str, str] = {}
    expanded: dict[str, str] = {}
    for program in load_programs():
        minimum[program.name] = scanner.minimum(program.text)
        lower = scanner.minimum(program.text, expand=True)
        if lower != minimum[program.name]:
            expanded[program.name] = lower
    return {
        "about": "Lowest target at which each program of tools/families serializes: full scan of"
        " every target with the bare binding, a fresh parse each time; `expanded`: the programs"
        " that the compatibility expander brings lower.",
        "producer": f"jaxlib {importlib.metadata.version('jaxlib')} (StableHLO {scanner.current})",
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "minimum": _by_target(minimum),
        "expanded": _by_target(expanded),
    }


def _by_target(lowest: Mapping[str, str]) -> dict[str, list[str]]:
    groups = {target: sorted(n for n, t in lowest.items() if t == target) for target in _ORDER}
    return {target: names for target, names in groups.items() if names}


def main() -> int:
    """Write the derived file, or check it with `--check`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    observed = _observe()
    if arguments.check:
        recorded = json.loads(DATA.read_text("utf-8"))
        if all(recorded[key] == observed[key] for key in ("minimum", "expanded")):
            return 0
        print(f"{DATA.name} is out of date: run python -m tools full_scan", file=sys.stderr)
        return 1
    DATA.write_text(json.dumps(observed, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
