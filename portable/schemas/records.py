"""The JSON documents that `portable` prints and signs, as types.

`python -m tools schemas` makes a JSON Schema in `data/` of each row of `DOCUMENTS`; docstrings are
the descriptions. Nothing that runs imports this module.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict, Unpack

__all__ = ["DOCUMENTS"]

# Members of enums, by the name under which `tools/schemas.py` finds them.
StageName: TypeAlias = Annotated[str, "Stage"]
OutcomeName: TypeAlias = Annotated[str, "Outcome"]
BasisName: TypeAlias = Annotated[str, "Basis"]
SeverityName: TypeAlias = Annotated[str, "Severity"]
KindName: TypeAlias = Annotated[str, "Kind"]
FeatureKindName: TypeAlias = Annotated[str, "FeatureKind"]
ConfidenceName: TypeAlias = Annotated[str, "Confidence"]
RuleName: TypeAlias = Annotated[str, "Rule"]
RoleName: TypeAlias = Annotated[str, "Role"]
TransitionName: TypeAlias = Annotated[str, "Transition"]
CopyOutcomeName: TypeAlias = Annotated[str, "CopyOutcome"]
OracleName: TypeAlias = Annotated[str, "Oracle"]
DefectName: TypeAlias = Annotated[str, "Defect"]
EndingName: TypeAlias = Annotated[str, "Ending"]

Counts: TypeAlias = dict[str, int]


# What several documents have in them.


class NotKnownRecord(TypedDict):
    """What is not known, and the Stage that depends on it."""

    stage: StageName
    what: str


class DiagnosticRecord(TypedDict):
    """One message of a compiler or of a table."""

    severity: SeverityName
    message: str
    location: NotRequired[str]
    notes: NotRequired[list[DiagnosticRecord]]


class VerdictRecord(TypedDict):
    """The Verdict on one artifact for one consumer, observed or predicted."""

    consumer: str
    outcome: OutcomeName
    stage: StageName
    says: str
    basis: BasisName
    reason: str
    not_known: list[NotKnownRecord]
    diagnostics: list[DiagnosticRecord]


class FeatureRecord(TypedDict):
    """One thing in a program that forces a Version."""

    kind: FeatureKindName
    name: str
    version: str
    count: int
    locations: list[str]
    reason: str
    workaround: str
    by_default: bool


class ErrorDocument(TypedDict):
    """An error, as a line on standard error, or for one of several files."""

    error: str
    what: str
    where: NotRequired[str]
    needs: NotRequired[str]
    target: NotRequired[str]
    hint: NotRequired[str]
    features: NotRequired[list[FeatureRecord]]
    diagnostics: NotRequired[list[DiagnosticRecord]]
    verdict: NotRequired[VerdictRecord]
    said: NotRequired[str]


class FailedFile(TypedDict):
    """One of several files, if it could not be examined."""

    file: str
    error: ErrorDocument


class CaveatRecord(TypedDict):
    """What the tables cannot judge."""

    text: str
    count: int


class NearRecord(TypedDict):
    """Which differences count as equal."""

    ulps: int
    complex_ulps: int
    epsilons: int


class RewriteRecord(TypedDict):
    """A rewrite that was applied."""

    name: str
    does: str
    exact: bool
    bound: str
    near: NearRecord | None
    count: int
    locations: list[str]


class TargetRecord(TypedDict):
    """Which Version to write for, and why."""

    version: str
    reason: str
    confidence: ConfidenceName
    binding: str | None
    runner_up: TargetRecord | None
    caveats: list[str]
    notes: list[str]


class ReleaseRecord(TypedDict):
    """A Release; empty fields are left out, also the version of a library without one."""

    distribution: str
    version: NotRequired[str]
    date: str
    current: str
    confidence: ConfidenceName
    below: NotRequired[str]
    minimum: NotRequired[str]
    python: NotRequired[str]
    requires_python: NotRequired[str]
    numpy: NotRequired[str]
    method: NotRequired[str]
    measured: NotRequired[str]
    evidence: NotRequired[str]
    week_4: NotRequired[str]
    week_12: NotRequired[str]
    yanked: NotRequired[bool]
    note: NotRequired[str]
    own: NotRequired[bool]


class DifferenceRecord(TypedDict):
    """One element that differs."""

    index: list[int]
    expected: str
    actual: str
    ulps: int | None


class ComparisonRecord(TypedDict):
    """Two outputs, compared."""

    output: int
    same: bool
    elements: int
    different: int
    worst_ulps: int | None
    first: list[DifferenceRecord]
    ulps: Counts
    reason: str


class TrialRecord(TypedDict):
    """The comparison for one set of inputs."""

    inputs: str
    outputs: list[ComparisonRecord]


class VerificationRecord(TypedDict):
    """Whether two programs compute the same."""

    same: bool
    verdict: VerdictRecord
    located: str | None
    rewrites: list[RewriteRecord]
    explained: str | None
    trials: list[TrialRecord]


class _First(TypedDict):
    schema: Literal[1]


class _Third(TypedDict):
    schema: Literal[3]


# attest


class DigestRecord(TypedDict):
    """A digest, as in-toto writes it."""

    sha256: str


class AttestedArtifact(TypedDict):
    """An artifact of an attestation; a Version is empty if it is not known."""

    name: str
    digest: DigestRecord
    version: str
    required: str
    # Of a bundle, where its manifest names some.
    rewrites: NotRequired[list[str]]


class InputRecord(TypedDict):
    """A file that a statement comes from."""

    name: str
    digest: DigestRecord


class PredicateDocument(TypedDict):
    """The content of an attestation: the predicate of its in-toto statement."""

    portable: str
    tables: str
    made: str
    artifacts: list[AttestedArtifact]
    verdicts: list[VerdictRecord]
    # The day, of each consumer whose Verdict is no prediction; older statements lack it.
    observed: NotRequired[dict[str, str]]
    # The matrix that says so; older statements lack it.
    inputs: NotRequired[list[InputRecord]]
    not_covered: list[str]


class StatementRecord(PredicateDocument):
    """A statement that was verified."""

    digest: str


class SignedDocument(_First):
    """`attest sign`."""

    output: str


class VerifiedDocument(_First):
    """`attest verify`."""

    statement: StatementRecord
    not_said_to_read: list[str]


# audit, plan, repin-all


class AuditDocument(_First):
    """`audit`, when it wrote a fleet."""

    objects: int
    unchanged: int
    artifacts: int
    damaged: int
    kinds: Counts


class AnswerDocument(_First):
    """`audit --query` and `--sql`."""

    columns: list[str]
    rows: list[dict[str, object]]


class OutlookRecord(TypedDict):
    """What a move changes for artifacts with the same prediction."""

    change: TransitionName
    reason: str
    remedy: str
    harmless: bool
    artifacts: list[str]


class ExpiringRecord(TypedDict):
    """Artifacts of one Version and kind that leave its Window."""

    version: str | None
    kind: str
    until: str | None
    days: int | None
    artifacts: int


class PlanDocument(_First):
    """`plan --from --to`."""

    compatible: bool | None
    not_covered: list[str]
    before: list[str]
    after: list[str]
    stage: StageName
    assumed: list[str]
    counts: dict[TransitionName, int]
    by_claim: int
    outlooks: list[OutlookRecord]
    damaged: list[str]
    refused: dict[str, int]
    order: str
    expiring: list[ExpiringRecord]
    command: str


class CalendarDocument(_First):
    """`plan --today`."""

    on: str
    windows: list[ExpiringRecord]


class FleetCopyRecord(TypedDict):
    """The outcome for one object."""

    place: str
    outcome: CopyOutcomeName
    to: str
    why: str


class RepinAllDocument(_First):
    """`repin-all`."""

    counts: dict[CopyOutcomeName, int]
    objects: list[FleetCopyRecord]


# bundle, pick, push


class BundledVersion(TypedDict):
    """One Version of a bundle, and the consumers that get it."""

    version: str
    annotations: dict[str, str]
    verdicts: list[VerdictRecord]


class BundleDocument(_First):
    """`bundle`."""

    output: str
    digest: str
    versions: list[BundledVersion]


class JudgedVersion(TypedDict):
    """One Version that was considered."""

    version: str
    verdicts: list[VerdictRecord]


class PickDocument(_First):
    """`pick --for`."""

    output: str | None
    digest: str
    version: str | None
    manifest: str
    stage: StageName
    not_covered: list[str]
    versions: list[JudgedVersion]


class UnpackDocument(_First):
    """`pick --unpack`."""

    output: str
    versions: list[str]


class PushDocument(_First):
    """`push`."""

    reference: str
    digest: str


# check, explain, inspect, minimum, verify


class ContainerRecord(TypedDict):
    """A container that was opened."""

    kind: KindName
    versions: dict[str, str]
    readers: list[str]


class BlamedRecord(TypedDict):
    """The ops that a Verdict blames for something."""

    ops: list[str]
    # How many there are, and where the first of them come from.
    total: int
    places: list[str]


class CheckedPart(TypedDict):
    """An artifact in a container; those of a bundle have no Verdicts of their own."""

    name: str
    versions: dict[str, str]
    # By op signatures and the ids of Advisories; absent where there are none.
    blamed: NotRequired[dict[str, BlamedRecord]]
    verdicts: NotRequired[list[VerdictRecord]]


class CheckedFile(TypedDict):
    """An artifact that was checked."""

    file: str
    compatible: bool | None
    verdicts: list[VerdictRecord]
    blamed: NotRequired[dict[str, BlamedRecord]]


class CheckedContainer(TypedDict):
    """A container that was checked."""

    file: str
    compatible: bool | None
    container: ContainerRecord
    artifacts: list[CheckedPart]
    verdicts: NotRequired[list[VerdictRecord]]


class CheckDocument(_Third):
    """`check`."""

    stage: StageName
    assumed: list[str]
    notes: list[str]
    not_covered: list[str]
    files: list[CheckedFile | CheckedContainer | FailedFile]


class PlanRecord(TypedDict):
    """Rewrites that reach a target."""

    target: str
    allow: list[str]
    exact: bool


class ExplanationRecord(TypedDict):
    """The Features that prevent a target."""

    target: str
    minimum: str | None
    without_rewriting: str | None
    reachable: bool
    plans: list[PlanRecord]
    refusals: list[str]
    blockers: list[FeatureRecord]
    caveats: list[CaveatRecord]


class ExplainedFile(ExplanationRecord):
    """A program that was explained."""

    file: str


class ExplainedPart(ExplanationRecord):
    """The same in a container."""

    name: str


class ExplainedContainer(TypedDict):
    """A container whose programs were explained."""

    file: str
    artifacts: list[ExplainedPart]


class ExplainDocument(_Third):
    """`explain`."""

    files: list[ExplainedFile | ExplainedContainer | FailedFile]


class MinimumRecord(TypedDict):
    """The lowest Version of a program."""

    minimum: str | None
    without_rewriting: str | None
    features: list[FeatureRecord]
    caveats: list[CaveatRecord]
    unknown: list[str]


class MinimumFile(MinimumRecord):
    """A program that was analyzed."""

    file: str


class MinimumPart(MinimumRecord):
    """The same in a container."""

    name: str


class MinimumContainer(TypedDict):
    """A container whose programs were analyzed."""

    file: str
    minimum: str | None
    artifacts: list[MinimumPart]


class MinimumDocument(_Third):
    """`minimum`."""

    files: list[MinimumFile | MinimumContainer | FailedFile]


class NeedsRecord(TypedDict):
    """A Version, and the Features that force it."""

    version: str | None
    features: list[FeatureRecord]


class PlacedCaveat(CaveatRecord):
    """What the tables cannot judge, and where."""

    locations: list[str]


class ConstantRecord(TypedDict):
    """One large constant."""

    type: str
    size: int


class RuntimeRecord(TypedDict):
    """The result for a shared library."""

    member: str
    format: str
    size: int
    confidence: Literal["static"]
    low: str
    below: str | None
    evidence: list[str]
    unknown: list[str]
    dialects: list[str]
    custom_calls: list[str]
    distribution: str
    version: str


class InspectionDocument(TypedDict):
    """`portable.inspect(...).record()`: a file's kind, and the Versions it claims and needs."""

    schema: Literal[2]
    kind: KindName
    size: int
    digest: str
    format: int | None
    producer: str
    claimed: str | None
    required: NeedsRecord | None
    minimum: NeedsRecord | None
    without_rewriting: NeedsRecord | None
    caveats: list[PlacedCaveat]
    unknown: list[str]
    dialects: Counts
    operations: Counts
    custom_calls: Counts
    discardable: Counts
    unregistered: list[str]
    locations: Counts
    leaks: list[str]
    constants: list[ConstantRecord]
    fingerprint: str | None
    warnings: list[str]
    damage: str
    versions: dict[str, str]
    readers: list[str]
    runtime: RuntimeRecord | None
    artifacts: list[InspectedPart]


class InspectedPart(InspectionDocument):
    """An artifact in a container."""

    name: str


class InspectedFile(InspectionDocument):
    """A file that was inspected."""

    file: str


class InspectDocument(_Third):
    """`inspect`."""

    files: list[InspectedFile | FailedFile]


class VerifiedFile(VerificationRecord):
    """A file that was compared."""

    file: str


class VerifyDocument(_Third):
    """`verify`."""

    expected: str
    files: list[VerifiedFile | FailedFile]


# corpus


class ToleranceRecord(TypedDict):
    """Which differences count as equal for the outputs of a Case."""

    relative: float
    absolute: float


class ExceptionRecord(TypedDict):
    """A consumer that does not do what a Case says."""

    consumer: str
    stage: StageName
    reason: str
    link: str


class CaseArtifact(TypedDict):
    """An artifact of a Case."""

    target: str
    producer: str


class CaseRecord(TypedDict):
    """A Case."""

    name: str
    feature: str
    family: str
    first: str
    provenance: str
    oracle: OracleName
    expression: str
    agreeing: list[str]
    reason: str
    every_minor: bool
    tolerance: ToleranceRecord
    inputs: dict[str, str]
    expected: dict[str, str]
    exceptions: list[ExceptionRecord]
    artifacts: list[CaseArtifact]


class CaseDocument(_First, CaseRecord):
    """`corpus show` and `corpus new`."""


class CasesDocument(_First):
    """`corpus list`."""

    cases: list[CaseRecord]


class BrokenRecord(TypedDict):
    """A file that does not match its seal."""

    path: str
    defect: DefectName


class SealsDocument(_First):
    """`corpus verify`."""

    sealed: int
    broken: list[BrokenRecord]


class SealedDocument(_First):
    """`corpus seal`."""

    sealed: int
    added: list[str]


class CoverageDocument(_First):
    """`corpus coverage`."""

    complete: bool
    missing: list[str]
    stale: list[str]
    excluded: dict[str, str]
    shown: dict[str, list[str]]


class DeviationRecord(TypedDict):
    """How a Case differs from the CPU."""

    case: str
    there: EndingName
    cpu: EndingName
    why: str


class CorpusRunDocument(_First):
    """`corpus run`."""

    platform: str
    device: str
    driver: str
    release: str
    cases: dict[EndingName, int]
    differences: list[DeviationRecord]


# env


class EnvironmentRecord(TypedDict):
    """An environment of a Release."""

    name: str
    release: str
    python: str
    bytes: int
    last_used: str
    directory: str


class EnvironmentsDocument(_First):
    """`env list`."""

    directory: str
    bytes: int
    environments: list[EnvironmentRecord]
    unfinished: list[str]


class FailedEnvironment(ErrorDocument):
    """A Release that could not be installed."""

    release: str


class MadeDocument(_First):
    """`env make`."""

    ready: list[EnvironmentRecord]
    failed: list[FailedEnvironment]


class ClearedDocument(_First):
    """`env clear`."""

    removed: list[str]
    busy: list[str]


class PrunedRecord(TypedDict):
    """An environment that was removed."""

    name: str
    bytes: int


class PrunedDocument(_First):
    """`env prune`."""

    removed: list[PrunedRecord]
    freed: int
    bytes: int


# export, verify-export


class ValueRecord(TypedDict):
    """An input or a result."""

    name: str
    dtype: str
    shape: list[int | str]


class ExportDocument(_First):
    """`export torch` and `export jax`."""

    output: str
    version: str
    size: int
    digest: str
    target: TargetRecord | None
    weights: int
    inputs: list[ValueRecord]
    results: list[ValueRecord]
    obstacles: list[VerdictRecord]


class SavedModelDocument(_First):
    """`export saved-model`."""

    output: str


class OpinionOutput(ComparisonRecord):
    """One output, compared with eager execution."""

    name: str
    op: str
    ties: int


class OpinionRecord(TypedDict):
    """The results of one runner for one set of inputs."""

    runner: str
    inputs: str
    agrees: bool
    outputs: list[OpinionOutput]


class VerifyExportDocument(_First):
    """`verify-export`."""

    same: bool
    version: str
    opinions: list[OpinionRecord]


# fuzz, reduce


class GeneratedProgram(TypedDict):
    """A program that was generated."""

    name: str
    since: str
    forms: list[str]


class GeneratedDocument(_First):
    """`fuzz generate`."""

    directory: str
    programs: list[GeneratedProgram]


class CauseRecord(TypedDict):
    """Why programs differ."""

    name: str
    kind: str
    ops: list[str]
    releases: list[str]
    program: str
    seed: str
    detail: str
    first_bad: str
    first_good: str
    explained: str
    foreseen: str
    judge: str


class HuntDocument(_First):
    """`fuzz hunt`."""

    rounds: int
    programs: int
    judged: int
    seconds: float
    executed: Counts
    refused: Counts
    covers: Counts
    computed: Counts
    reduced: list[list[float]]
    causes: Counts
    unconfirmed: Counts
    found: list[CauseRecord]


class ReduceDocument(_First):
    """`reduce`."""

    program: str
    ops: int
    ops_before: int
    tried: int


# gate


class FindingRecord(TypedDict):
    """A violation of a rule, or one that is not known to be absent."""

    path: str
    rule: RuleName
    message: str
    known: bool
    artifact: NotRequired[str]
    consumer: NotRequired[str]
    sets: NotRequired[list[str]]
    waived: NotRequired[str]


class NotJudgedRecord(TypedDict):
    """A file that could not be judged."""

    path: str
    reason: str


class ExcludedRecord(TypedDict):
    """A file that the policy excludes."""

    path: str
    rule: str


class WaiverRecord(TypedDict):
    """A waiver that matches no finding."""

    rule: RuleName
    path: str
    reason: str


class GateDocument(TypedDict):
    """`gate`."""

    schema: Literal[2]
    passed: bool
    stage: StageName
    assumed: list[str]
    notes: list[str]
    not_covered: list[str]
    artifacts: int
    consumers: list[str]
    verdicts: Counts
    findings: list[FindingRecord]
    not_judged: list[NotJudgedRecord]
    excluded: list[ExcludedRecord]
    other_files: int
    unused_waivers: list[WaiverRecord]


# matrix


class ItemRecord(TypedDict):
    """An artifact of a matrix; empty fields are left out. A tensor is its file and type."""

    name: str
    path: str
    digest: str
    claimed: str | None
    inside: NotRequired[str]
    producer: NotRequired[str]
    producer_version: NotRequired[str]
    case: NotRequired[str]
    inputs: NotRequired[list[tuple[str, str]]]
    expected: NotRequired[list[tuple[str, str]]]
    relative: NotRequired[float]
    absolute: NotRequired[float]
    ulps: NotRequired[int]
    given: NotRequired[list[str]]
    reference: NotRequired[str]


class MatrixVerdict(TypedDict):
    """A Verdict without its consumer; empty fields are left out."""

    outcome: OutcomeName
    stage: StageName
    says: str
    basis: BasisName
    reason: NotRequired[str]
    not_known: NotRequired[list[NotKnownRecord]]
    diagnostics: NotRequired[list[DiagnosticRecord]]


class MatrixDocument(TypedDict):
    """`matrix`.

    A result is the role of the consumer, the position of the prediction among the Verdicts, that of
    the observation or null, a note, a reference to what explains a contradiction, and positions of
    other observations. A cell is the position of its result, or null where there is none.
    """

    schema: Literal[2]
    date: str
    stage: StageName
    consumers: list[ReleaseRecord]
    items: list[ItemRecord]
    verdicts: list[MatrixVerdict]
    results: list[
        tuple[RoleName, int, int | None, str, str, Unpack[tuple[int, ...]]]  # noqa: UP044 - get_type_hints loses a star
    ]
    cells: list[list[int | None]]


# pin, run, target, releases, versions


class PinnedRecord(TypedDict):
    """An artifact that was written."""

    size: int
    digest: str
    target: TargetRecord
    required: str
    version: str
    rewrites: list[RewriteRecord]
    verification: NotRequired[VerificationRecord]


class PinDocument(_First, PinnedRecord):
    """`pin` of a program."""

    output: str
    obstacles: list[VerdictRecord]


class PinnedPart(PinnedRecord):
    """An artifact in a container."""

    name: str


class PinContainerDocument(_First):
    """`pin` of a container."""

    output: str
    kind: KindName
    readers: list[str]
    widened: bool
    artifacts: list[PinnedPart]
    obstacles: list[VerdictRecord]


class NotPinnedDocument(_First, VerificationRecord):
    """`pin --verify`, when nothing was written because the results differ."""

    expected: str
    actual: str


class OutputRecord(TypedDict):
    """An output."""

    dtype: str
    shape: list[int]


class RunDocument(_First):
    """`run`."""

    executor: str
    outputs: list[OutputRecord]


class FailedRunDocument(_First, ErrorDocument):
    """`run`, when the program failed to compile or to execute."""


class TargetDocument(_First, TargetRecord):
    """`target`."""


class ReleasesDocument(_First):
    """`releases list`."""

    releases: list[ReleaseRecord]


class AddedDocument(_First):
    """`releases add` and `releases update`."""

    added: list[ReleaseRecord]


class ChangeRecord(TypedDict):
    """One difference between two Releases."""

    kind: str
    name: str
    detail: str
    begins: bool


class UpgradeDocument(_First):
    """`releases diff`."""

    before: ReleaseRecord
    after: ReleaseRecord
    changes: list[ChangeRecord]
    notes: list[str]


class VersionRecord(TypedDict):
    """A Version of StableHLO."""

    version: str
    date: str | None
    tag: str | None
    bytecode_format: int
    feature: str
    source: str


class VersionsDocument(_First):
    """`versions`."""

    versions: list[VersionRecord]


# What each command prints as JSON, and what is not of one command.
DOCUMENTS: dict[str, tuple[type, ...]] = {
    "attest": (SignedDocument, VerifiedDocument),
    "audit": (AuditDocument, AnswerDocument),
    "bundle": (BundleDocument,),
    "check": (CheckDocument,),
    "corpus": (
        CaseDocument, CasesDocument, SealsDocument, SealedDocument, CoverageDocument,
        CorpusRunDocument,
    ),
    "env": (EnvironmentsDocument, MadeDocument, ClearedDocument, PrunedDocument),
    "error": (ErrorDocument,),
    "explain": (ExplainDocument,),
    "export": (ExportDocument, SavedModelDocument),
    "fuzz": (GeneratedDocument, HuntDocument),
    "gate": (GateDocument,),
    "inspect": (InspectDocument,),
    "inspection": (InspectionDocument,),
    "matrix": (MatrixDocument,),
    "minimum": (MinimumDocument,),
    "pick": (PickDocument, UnpackDocument),
    "pin": (PinDocument, PinContainerDocument, NotPinnedDocument),
    "plan": (PlanDocument, CalendarDocument),
    "predicate": (PredicateDocument,),
    "push": (PushDocument,),
    "reduce": (ReduceDocument,),
    "releases": (ReleasesDocument, AddedDocument, UpgradeDocument),
    "repin-all": (RepinAllDocument,),
    "run": (RunDocument, FailedRunDocument),
    "target": (TargetDocument,),
    "verify": (VerifyDocument,),
    "verify-export": (VerifyExportDocument,),
    "versions": (VersionsDocument,),
}  # fmt: skip
