"""Reading and writing through MLIR's Python bindings, each era's own way.

Used by every family that ships `ir` and `stablehlo` modules: jaxlib and torch-mlir.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .answer import Refused, Unavailable
from .content import given, given_target, returned
from .engines import Engines

if TYPE_CHECKING:
    from collections.abc import Callable

    from .answer import Job, Payload

__all__ = ["PRODUCER", "PRODUCER_WITHIN", "Bindings", "ModuleEra", "TextEra"]

# A Context keeps every type and attribute it has ever seen; a batch of thousands must not.
JOBS_PER_CONTEXT = 256

# What the producer of a portable artifact begins with, and where in the header it stands.
PRODUCER, PRODUCER_WITHIN = b"StableHLO_v", 32

# What a refusal is raised as: SystemError and odd RuntimeErrors up to jaxlib 0.4.38, ValueError
# from 0.5.0, MLIRError where text does not parse.
REFUSALS = (SystemError, RuntimeError, ValueError, IndexError)


class TextEra:
    """Overloads by type, of which only those on text and bytes do not kill the process."""

    def __init__(self, stablehlo: Any) -> None:
        self._stablehlo = stablehlo

    def read(self, artifact: bytes) -> bytes:
        """Read an artifact; the module comes back as MLIR bytecode."""
        return _asked(self._stablehlo.deserialize_portable_artifact, artifact)

    def write(self, program: bytes, target: str) -> bytes:
        """Write a program, text or MLIR bytecode, for a target."""
        return _asked(self._stablehlo.serialize_portable_artifact, program, target)

    def without_locations(self, program: bytes) -> bytes:
        """Refuse: these releases can run no pass."""
        del program
        raise Unavailable("this release cannot strip locations")

    def text(self, module: bytes) -> str | None:
        """Return None: a second Context aborts these releases, so nothing can be printed."""
        del module
        return None


class ModuleEra:
    """Modules and Contexts work, and their diagnostics can be heard."""

    def __init__(
        self, ir: Any, stablehlo: Any, passes: Any, prepare: Callable[[Any], None]
    ) -> None:
        self._ir = ir
        self._passes = passes
        self._stablehlo = stablehlo
        self._prepare = prepare
        self._context: Any = None
        self._jobs = 0
        self._heard: list[Payload] = []

    def read(self, artifact: bytes) -> Any:
        """Read an artifact into a Module."""
        context = self._current_context()
        return self.asked(self._stablehlo.deserialize_portable_artifact, context, artifact)

    def module(self, program: bytes) -> Any:
        """Read an artifact, or parse text or bytecode, into a Module."""
        if PRODUCER in program[:PRODUCER_WITHIN]:
            return self.read(program)
        with self._current_context():
            return self.asked(self._ir.Module.parse, program)

    def write(self, program: Any, target: str) -> bytes:
        """Write a Module, or text or bytecode that is parsed first, for a target."""
        if isinstance(program, bytes):
            parse = self._ir.Module.parse
            with self._current_context():
                program = self.asked(parse, program)
        # The Module is ours and is not used again: serializing rewrites it in place.
        return bytes(self.asked(self._stablehlo.serialize_portable_artifact, program, target))

    def without_locations(self, program: bytes) -> Any:
        """Parse a program and forget where its ops came from.

        Locations of text are ranges, which readers older than 1.8 do not know.
        """
        with self._current_context():
            module = self.asked(self._ir.Module.parse, program)
            manager = self._passes.PassManager.parse("builtin.module(strip-debuginfo)")
            self.asked(manager.run, module.operation)
        return module

    def text(self, module: Any) -> str | None:
        """Print a Module without locations."""
        return str(module.operation.get_asm(enable_debug_info=False, large_elements_limit=None))

    def _current_context(self) -> Any:
        if self._context is None or self._jobs >= JOBS_PER_CONTEXT:
            self._context = self._ir.Context()
            self._prepare(self._context)
            self._context.attach_diagnostic_handler(self._hear)
            self._jobs = 0
        self._jobs += 1
        return self._context

    def _hear(self, diagnostic: Any) -> bool:
        self._heard.append(_diagnostic(diagnostic))
        return True

    def asked(self, call: Any, *arguments: Any) -> Any:
        """Call into the bindings; a failure of theirs is a refusal, with what MLIR said."""
        self._heard.clear()
        try:
            return call(*arguments)
        except (*REFUSALS, self._ir.MLIRError) as refusal:
            raise Refused(f"{type(refusal).__name__}: {_line(refusal)}", [*self._heard]) from None


class Bindings:
    """The jobs that every release with bindings can do, whatever its era.

    Args:
        stablehlo: The `stablehlo` module of the bindings.
        era: How to read and write with it.
        facts: Find out what else a probe should report; called by each.
        engines: What there is to execute with.
    """

    def __init__(
        self,
        stablehlo: Any,
        era: TextEra | ModuleEra,
        facts: Callable[[], Payload],
        engines: Engines | None = None,
    ) -> None:
        self._engines = engines or Engines({})
        self._stablehlo = stablehlo
        self._era: Any = era
        self._facts = facts
        self._current = str(stablehlo.get_current_version())

    def probe(self, job: Job) -> Payload:
        """Report the Versions, the API version and the windows that the Release was built with."""
        del job
        named = getattr(self._stablehlo, "get_version_from_compatibility_requirement", None)
        windows = {}
        if named is not None:
            kinds = self._stablehlo.StablehloCompatibilityRequirement
            windows = {n: named(getattr(kinds, n)) for n in ("WEEK_4", "WEEK_12")}
        return {
            "current": self._current,
            "minimum": str(self._stablehlo.get_minimum_version()),
            "api_version": int(self._stablehlo.get_api_version()),
            **{name.lower(): str(version) for name, version in windows.items()},
            **self._facts(),
        }

    def read(self, job: Job) -> Payload:
        """Read an artifact."""
        module = self._era.read(given(job))
        wanted = job.get("want", ())
        if not {"module", "text_sha256"} & set(wanted):
            return {}
        text = self._era.text(module)
        made = module if text is None else text.encode()
        return {**returned(job, "module", made), "form": "bytecode" if text is None else "text"}

    def write(self, job: Job) -> Payload:
        """Write a program for a target; without locations if the job says `strip`."""
        target = given_target(job, self._current)
        program = self._era.without_locations(given(job)) if job.get("strip") else given(job)
        return {"target": target, **returned(job, "artifact", self._era.write(program, target))}

    def rewrite(self, job: Job) -> Payload:
        """Read an artifact and write it again for a target."""
        target = given_target(job, self._current)
        artifact = self._era.write(self._era.read(given(job)), target)
        return {"target": target, **returned(job, "artifact", artifact)}

    def roundtrip(self, job: Job) -> Payload:
        """Read, write at the current Version, and see that doing it again changes nothing."""
        target = given_target({}, self._current)
        once = self._era.write(self._era.read(given(job)), target)
        twice = self._era.write(self._era.read(once), target)
        return {"target": target, "stable": once == twice, **returned(job, "artifact", once)}

    def compile(self, job: Job) -> Payload:
        """Compile a program, or prepare it for whatever executes it."""
        return self._engines.compile(job)

    def execute(self, job: Job) -> Payload:
        """Execute a program on inputs."""
        return self._engines.execute(job)


def _asked(call: Any, *arguments: Any) -> bytes:
    try:
        return bytes(call(*arguments))
    except REFUSALS as refusal:
        raise Refused(f"{type(refusal).__name__}: {_line(refusal)}") from None


def _line(error: BaseException) -> str:
    # A call that failed without raising: all there is are the interpreter's words for that, with
    # addresses in them that differ from run to run.
    if "returned a result with an exception set" in str(error):
        return "refused without a reason"
    # A failing pass may put the whole printed module into its exception.
    return " ".join(str(error)[:2000].split())


def _diagnostic(diagnostic: Any) -> Payload:
    return {
        "severity": str(diagnostic.severity).rpartition(".")[2].lower(),
        "message": str(diagnostic.message)[:2000],
        "location": str(diagnostic.location)[:400],
        "notes": [_diagnostic(note) for note in diagnostic.notes],
    }
