"""Compatibility and versioning of StableHLO portable artifacts.

Predicts which shipped runtimes read an artifact and compute the same, writes artifacts that they
can read, and names the Features of a program that require a newer Version.

    >>> import portable
    >>> program = '''
    ... func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    ...   %y = stablehlo.tan %x : tensor<4xf32>
    ...   return %y : tensor<4xf32>
    ... }'''
    >>> pinned = portable.pin(program, "jaxlib>=0.5", "tensorflow>=2.18")
    >>> pinned.artifact.save("model.mlir.bc")
    >>> portable.predict("model.mlir.bc", "jaxlib 0.5.0").says
    'compatible: reads it'
    >>> portable.inspect("model.mlir.bc").claimed == pinned.target.version
    True
    >>> portable.minimum(program).version
    Version(major=0, minor=9, patch=0)

Write an artifact:

    pin(program, *requests)         for named consumers, read back strictly, with the reasons
    serialize(program, target)      only the artifact, for one Version
    retarget(artifact, target)      an existing artifact, rewritten for another Version
    repin(path, *requests, to=new)  a copy of a container, with every artifact rewritten
    minimum(program)                the lowest Version it can be pinned for
    explain(program, target)        the Features that prevent a target, and workarounds

Read one; `inspect` and `predict` need no compiler and run no native code:

    inspect(file)                   its kind, the Version it claims, the Version it needs
    predict(artifact, release)      the Verdict, from the bytes and the tables
    observe(artifact)               the Verdict of the installed libStablehlo, in a child process
    run(artifact, inputs)           its results, computed in a child process
    verify(expected, actual)        whether two artifacts compute the same results
    deserialize(artifact)           the program inside, as an ir.Module

What has shipped:

    resolve_target(*requests)       the newest Version that every consumer reads, and why
    window(version)                 until when upstream promises to read and write it

An artifact is an `Artifact`, its bytes, or its path, in every call. A program is one of these,
MLIR text or bytecode, or an `ir.Module`. A module is worked on in this process and never changed;
native code reads everything else in a child process, with limits of time and memory.

Policies and the gate are in `portable.policy`, exporters of PyTorch and JAX in
`portable.exporters`, artifacts x Releases in `portable.matrix`, containers in
`portable.containers`, audits of many files in `portable.fleet`, tables of Releases in
`portable.releases`, real Releases in `portable.runtime`. Everything is imported on first use.

An incompatibility is a `Verdict`. What could not be done or checked is an exception derived from
`PortableError`, listed in docs/errors.md; docs/api-stability.md says what of all this is public.
"""

from __future__ import annotations

from portable.system.lazy import lazy

# As in `typing`, whose import takes milliseconds in which Ctrl-C would be a traceback.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from portable import artifact as artifact
    from portable import attestation as attestation
    from portable import bindings as bindings
    from portable import bundle as bundle
    from portable import bytecode as bytecode
    from portable import containers as containers
    from portable import corpus as corpus
    from portable import errors as errors
    from portable import exporters as exporters
    from portable import features as features
    from portable import fleet as fleet
    from portable import fuzz as fuzz
    from portable import inspection as inspection
    from portable import matrix as matrix
    from portable import pinning as pinning
    from portable import policy as policy
    from portable import prediction as prediction
    from portable import releases as releases
    from portable import runtime as runtime
    from portable import schemas as schemas
    from portable import tolerance as tolerance
    from portable import verdict as verdict
    from portable import version as version
    from portable.artifact import Artifact as Artifact
    from portable.artifact import ArtifactLike as ArtifactLike
    from portable.artifact import NotAnArtifact as NotAnArtifact
    from portable.bindings import LibraryError as LibraryError
    from portable.bindings import LibraryNotFound as LibraryNotFound
    from portable.bindings import Module as Module
    from portable.bytecode import MalformedArtifact as MalformedArtifact
    from portable.bytecode.nesting import TooDeep as TooDeep
    from portable.containers import MalformedContainer as MalformedContainer
    from portable.containers import NoArtifact as NoArtifact
    from portable.containers import NotAContainer as NotAContainer
    from portable.errors import PortableError as PortableError
    from portable.features import Analysis as Analysis
    from portable.features import Feature as Feature
    from portable.features import Needs as Needs
    from portable.features import Strictness as Strictness
    from portable.inspection import Inspection as Inspection
    from portable.inspection import inspect as inspect
    from portable.pinning.explanation import Explanation as Explanation
    from portable.pinning.explanation import explain as explain
    from portable.pinning.locations import Locations as Locations
    from portable.pinning.options import PinOptions as PinOptions
    from portable.pinning.pipeline import ForeignDialect as ForeignDialect
    from portable.pinning.pipeline import InvalidTarget as InvalidTarget
    from portable.pinning.pipeline import Minimum as Minimum
    from portable.pinning.pipeline import NotExpressible as NotExpressible
    from portable.pinning.pipeline import Pinned as Pinned
    from portable.pinning.pipeline import minimum as minimum
    from portable.pinning.pipeline import pin as pin
    from portable.pinning.pipeline import retarget as retarget
    from portable.pinning.pipeline import serialize as serialize
    from portable.pinning.program import InvalidProgram as InvalidProgram
    from portable.pinning.program import Program as Program
    from portable.pinning.program import deserialize as deserialize
    from portable.pinning.repinning import NotOpened as NotOpened
    from portable.pinning.repinning import Repinned as Repinned
    from portable.pinning.repinning import repin as repin
    from portable.pinning.rewrites import DoesNotApply as DoesNotApply
    from portable.pinning.rewrites import UnknownRewrite as UnknownRewrite
    from portable.prediction import predict as predict
    from portable.releases import ImpossibleSpecifier as ImpossibleSpecifier
    from portable.releases import InvalidSpecifier as InvalidSpecifier
    from portable.releases import NoTarget as NoTarget
    from portable.releases import Release as Release
    from portable.releases import Target as Target
    from portable.releases import UnknownDistribution as UnknownDistribution
    from portable.releases import UnknownRelease as UnknownRelease
    from portable.releases import UnknownVersion as UnknownVersion
    from portable.releases import Window as Window
    from portable.releases import resolve_target as resolve_target
    from portable.releases import window as window
    from portable.releases.plugin import PluginError as PluginError
    from portable.runtime.executors import ExecutionFailed as ExecutionFailed
    from portable.runtime.executors import ExecutorMissing as ExecutorMissing
    from portable.runtime.executors import InputMismatch as InputMismatch
    from portable.runtime.executors import NoMain as NoMain
    from portable.runtime.executors import PlatformMissing as PlatformMissing
    from portable.runtime.executors import Tolerance as Tolerance
    from portable.runtime.executors import UnknownExecutor as UnknownExecutor
    from portable.runtime.executors import UnsupportedType as UnsupportedType
    from portable.runtime.executors import run as run
    from portable.runtime.observation import observe as observe
    from portable.runtime.verification import NothingCompared as NothingCompared
    from portable.runtime.verification import Verification as Verification
    from portable.runtime.verification import verify as verify
    from portable.system.children import ChildFailed as ChildFailed
    from portable.system.files import FileError as FileError
    from portable.verdict import Basis as Basis
    from portable.verdict import Diagnostic as Diagnostic
    from portable.verdict import NotKnown as NotKnown
    from portable.verdict import Outcome as Outcome
    from portable.verdict import Severity as Severity
    from portable.verdict import Stage as Stage
    from portable.verdict import Verdict as Verdict
    from portable.version import InvalidVersion as InvalidVersion
    from portable.version import Version as Version

__version__ = "0.1.0"

# Where each public name lives; the imports above are for type checkers.
_NAMES = {
    "Analysis": "portable.features",
    "Artifact": "portable.artifact",
    "ArtifactLike": "portable.artifact",
    "Basis": "portable.verdict",
    "ChildFailed": "portable.system.children",
    "Diagnostic": "portable.verdict",
    "DoesNotApply": "portable.pinning.rewrites",
    "ExecutionFailed": "portable.runtime.executors",
    "ExecutorMissing": "portable.runtime.executors",
    "Explanation": "portable.pinning.explanation",
    "Feature": "portable.features",
    "FileError": "portable.system.files",
    "ForeignDialect": "portable.pinning.pipeline",
    "ImpossibleSpecifier": "portable.releases",
    "InputMismatch": "portable.runtime.executors",
    "Inspection": "portable.inspection",
    "InvalidProgram": "portable.pinning.program",
    "InvalidSpecifier": "portable.releases",
    "InvalidTarget": "portable.pinning.pipeline",
    "InvalidVersion": "portable.version",
    "LibraryError": "portable.bindings",
    "LibraryNotFound": "portable.bindings",
    "Locations": "portable.pinning.locations",
    "MalformedArtifact": "portable.bytecode",
    "MalformedContainer": "portable.containers",
    "Minimum": "portable.pinning.pipeline",
    "Module": "portable.bindings",
    "Needs": "portable.features",
    "NoArtifact": "portable.containers",
    "NoMain": "portable.runtime.executors",
    "PlatformMissing": "portable.runtime.executors",
    "NoTarget": "portable.releases",
    "NotAContainer": "portable.containers",
    "NotAnArtifact": "portable.artifact",
    "NotExpressible": "portable.pinning.pipeline",
    "NotKnown": "portable.verdict",
    "NotOpened": "portable.pinning.repinning",
    "NothingCompared": "portable.runtime.verification",
    "Outcome": "portable.verdict",
    "PinOptions": "portable.pinning.options",
    "Pinned": "portable.pinning.pipeline",
    "PluginError": "portable.releases.plugin",
    "PortableError": "portable.errors",
    "Program": "portable.pinning.program",
    "Release": "portable.releases",
    "Repinned": "portable.pinning.repinning",
    "Severity": "portable.verdict",
    "Stage": "portable.verdict",
    "Strictness": "portable.features",
    "Target": "portable.releases",
    "Tolerance": "portable.runtime.executors",
    "TooDeep": "portable.bytecode.nesting",
    "UnknownDistribution": "portable.releases",
    "UnknownExecutor": "portable.runtime.executors",
    "UnknownRelease": "portable.releases",
    "UnknownRewrite": "portable.pinning.rewrites",
    "UnknownVersion": "portable.releases",
    "UnsupportedType": "portable.runtime.executors",
    "Verdict": "portable.verdict",
    "Verification": "portable.runtime.verification",
    "Version": "portable.version",
    "Window": "portable.releases",
    "deserialize": "portable.pinning.program",
    "explain": "portable.pinning.explanation",
    "inspect": "portable.inspection",
    "minimum": "portable.pinning.pipeline",
    "observe": "portable.runtime.observation",
    "pin": "portable.pinning.pipeline",
    "predict": "portable.prediction",
    "repin": "portable.pinning.repinning",
    "resolve_target": "portable.releases",
    "retarget": "portable.pinning.pipeline",
    "run": "portable.runtime.executors",
    "serialize": "portable.pinning.pipeline",
    "verify": "portable.runtime.verification",
    "window": "portable.releases",
}
_ROOMS = {
    "artifact": "portable.artifact",
    "attestation": "portable.attestation",
    "bindings": "portable.bindings",
    "bundle": "portable.bundle",
    "bytecode": "portable.bytecode",
    "containers": "portable.containers",
    "corpus": "portable.corpus",
    "errors": "portable.errors",
    "exporters": "portable.exporters",
    "features": "portable.features",
    "fleet": "portable.fleet",
    "fuzz": "portable.fuzz",
    "inspection": "portable.inspection",
    "matrix": "portable.matrix",
    "pinning": "portable.pinning",
    "policy": "portable.policy",
    "prediction": "portable.prediction",
    "releases": "portable.releases",
    "runtime": "portable.runtime",
    "schemas": "portable.schemas",
    "tolerance": "portable.tolerance",
    "verdict": "portable.verdict",
    "version": "portable.version",
}

__all__ = ["__version__"]
__all__ += list(_NAMES)

if not TYPE_CHECKING:  # or every misspelt name would be an object
    __getattr__, __dir__ = lazy(__name__, _NAMES | _ROOMS)
