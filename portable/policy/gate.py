"""The gate: every artifact of a tree against the policy."""

from __future__ import annotations

import datetime
import functools
import itertools
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path, PosixPath
from typing import TYPE_CHECKING, TypeAlias

from portable.artifact import Artifact
from portable.attestation import beside, verify
from portable.bytecode import HEADER_BYTES
from portable.containers.container import place
from portable.containers.finding import Fate, Found, find
from portable.containers.finding import NothingFound as NothingToGate
from portable.containers.kind import Kind
from portable.errors import PortableError
from portable.policy.document import Attested, Depth, LocationRule, Policy, Rule, Rules, Waiver
from portable.policy.keys import PolicyError
from portable.prediction import RANGE, Subject, examine, predict_all
from portable.releases import Release, matching_releases, named_consumers
from portable.releases.release import use_table
from portable.system.wording import many
from portable.verdict import Stage, Verdict

if TYPE_CHECKING:
    from portable.containers import Entry
    from portable.containers.container import Opener
    from portable.version import Version

__all__ = [
    "CannotObserve",
    "Checked",
    "Finding",
    "GateResult",
    "Left",
    "NothingToGate",
    "Observe",
    "Recorded",
    "Url",
    "gate",
    "with_sets",
]

Observe = Callable[[Artifact], Verdict]


class CannotObserve(PortableError):
    """The policy demands a Stage that neither a prediction nor an installed library reaches."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One artifact as an audit has read it.

    Args:
        path: Where it is.
        inside: Its name in a container; empty for a plain file.
        depth: How much of it was read.
        subject: What predictions ask of it; None where it could not be read.
        error: Why.
        member: Of a bundle, the Version that it belongs to, as of `Entry`.
    """

    path: str
    inside: str
    depth: Depth
    subject: Subject | None
    error: str = ""
    member: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One way in which one artifact breaks the policy.

    Args:
        path: The artifact.
        rule: Which rule it breaks.
        message: One line that says how.
        consumer: The Release that does not read it, for the rule `consumer`.
        waiver: The waiver that excuses it, if there is one.
        inside: The name of the artifact in a container; empty for a plain file.
        known: Whether it is known to break the rule; otherwise this is not known.
        sets: The names of the sets that the consumer is in, where the policy has several.
    """

    path: Path
    rule: Rule
    message: str
    consumer: str = ""
    waiver: Waiver | None = None
    inside: str = ""
    known: bool = True
    sets: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """What the finding is about, in words."""
        return place(self.path, self.inside)

    @property
    def reason(self) -> str:
        """The message without the consumer that it begins with."""
        return self.message.removeprefix(f"{with_sets(self.consumer, self.sets)}: ")

    def record(self) -> dict[str, object]:
        """Return the finding as plain data for JSON."""
        fields: dict[str, object] = {
            "path": str(self.path),
            "rule": str(self.rule),
            "message": self.message,
            "known": self.known,
        }
        if self.inside:
            fields["artifact"] = self.inside
        if self.consumer:
            fields["consumer"] = self.consumer
        if self.sets:
            fields["sets"] = list(self.sets)
        if self.waiver:
            fields["waived"] = f"{self.waiver.reason} (until {self.waiver.expires})"
        return fields


@dataclass(frozen=True, slots=True)
class Checked:
    """One artifact that was checked.

    Args:
        path: The file.
        findings: What is wrong with it, waived findings included.
        verdicts: One for each consumer; empty when the file is no artifact.
        inside: Its name in a container; empty for a plain file.
    """

    path: Path
    findings: tuple[Finding, ...]
    verdicts: tuple[Verdict, ...]
    inside: str = ""

    @property
    def place(self) -> str:
        """The artifact in words."""
        return place(self.path, self.inside)

    @property
    def failed(self) -> bool:
        """Whether a finding is not waived."""
        return any(finding.waiver is None for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Left:
    """A file or folder that was left out.

    Args:
        path: Which.
        why: The reason, or the rule that excludes it.
    """

    path: Path
    why: str


@dataclass(frozen=True, slots=True)
class GateResult:
    """What the gate found.

    Args:
        files: Every artifact, as the paths were named; of a folder its files before its subfolders.
        consumers: The consumers that had to read them.
        unused: Waivers that matched no finding.
        not_judged: Files that may be or hold an artifact and could not be read.
        excluded: What a rule of the policy, or the list of folders that tools keep, leaves out.
        others: How many other files there are, which nothing marks as artifacts.
        strict: Whether what was not judged keeps the gate from passing.
        notes: Consumers that are newer than every Release in the table; they do not count.
        uncovered: Consumers that are older: nothing is known about them.
        stage: The Stage that the policy requires.
        assumed: What the policy assumes of the values that artifacts are run on.
    """

    files: tuple[Checked, ...]
    consumers: tuple[str, ...]
    unused: tuple[Waiver, ...]
    not_judged: tuple[Left, ...] = ()
    excluded: tuple[Left, ...] = ()
    others: int = 0
    strict: bool = True
    notes: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()
    stage: Stage = Stage.DECODE
    assumed: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        passed = "passed" if self.passed else "undecided" if self.undecided else "failed"
        judged, findings = many(len(self.files), "artifact"), many(len(self.findings), "finding")
        return f"<GateResult {passed}: {judged}, {findings}>"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that was found, waived findings included."""
        return tuple(finding for file in self.files for finding in file.findings)

    @property
    def passed(self) -> bool:
        """Whether everything was judged, and every artifact satisfies the policy or is waived."""
        whole = not self.incomplete and not self.uncovered
        return whole and not any(file.failed for file in self.files)

    @property
    def incomplete(self) -> bool:
        """Whether something was not judged, and that counts."""
        return self.strict and bool(self.not_judged)

    @property
    def undecided(self) -> bool:
        """Whether only what is not known keeps it from passing."""
        known = any(finding.known and finding.waiver is None for finding in self.findings)
        return not self.passed and not known

    @property
    def unreadable(self) -> bool:
        """Whether some file could not be checked at all, and that is not waived."""
        return any(f.rule is Rule.ARTIFACT and f.waiver is None for f in self.findings)


def gate(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    policy: Policy,
    *,
    on: datetime.date | None = None,
    observe: Observe | None = None,
    strict: bool = True,
    changed: bool = False,
    elsewhere: Iterable[Found | Sequence[Recorded]] = (),
) -> GateResult:
    """Check a tree of artifacts against a policy.

    Args:
        paths: One or several: files and containers, which are checked whatever their name, and
            folders, which are searched: what is an artifact by its content or by its name is
            checked, everything else is accounted for.
        policy: The policy.
        on: The day that waivers and ages are judged on; today when None.
        observe: How to reach a Stage beyond prediction: reads an artifact with a real library.
        strict: Whether what could not be judged keeps the gate from passing.
        changed: Take the paths for the files of a change: those that are no artifacts are counted,
            and there need not be any.
        elsewhere: What was found on servers, and what an audit has read of an object or of a
            bundle; checked too.

    Returns:
        Every artifact with its findings and Verdicts, and what was left out.

    Raises:
        FileError: No path exists.
        NothingToGate: There is no artifact.
        PolicyError: The policy names no consumers.
        ExpiredWaiver: A waiver is past its date.
        CannotObserve: The policy demands a Stage that is not predicted.
    """
    day = on or datetime.date.today()
    use_table(policy.releases)
    policy.demand_unexpired(day)
    if policy.rules.stage is Stage.ROUNDTRIP:
        raise CannotObserve(
            "the policy demands roundtrip, which is not predicted",
            where=f"{policy.where}: rules.stage",
            hint="demand decode, compile or execute, or use `portable matrix --stage roundtrip`",
        )
    if not policy.rules.consumers:
        raise PolicyError(
            "no consumers",
            where=f"{policy.where}: rules.consumers",
            hint="add [consumers] to the policy, or use --for",
        )
    consumers = named_consumers(*policy.rules.consumers, consumers=policy.consumers, on=day)
    check = _Check(policy, consumers.releases, observe, on)
    checked: list[Checked] = []
    left: dict[Fate, list[Left]] = {fate: [] for fate in Fate}
    missing: list[NothingToGate] = []
    others = 0
    here = find(
        [paths] if isinstance(paths, (str, os.PathLike)) else paths,
        names=policy.rules.include,
        exclude=policy.rules.exclude,
        root=policy.root,
        changed=changed,
    )
    for found in itertools.chain(here, elsewhere):
        if not isinstance(found, Found):
            unfit = [Left(_where(one.path), why) for one in found if (why := check.unfit(one))]
            left[Fate.NOT_JUDGED] += unfit
            checked += () if unfit else check.recorded(found)
        elif found.fate is Fate.ARTIFACT:
            checked += check.found(found)
            if isinstance(found.error, NothingToGate):
                missing.append(found.error)
        elif found.fate is Fate.OTHER:
            others += 1
        else:
            left[found.fate].append(Left(_where(found.path), found.why))
    # A gate that checks nothing must not pass; an error beside what was checked is a finding.
    if not changed and len(checked) == len(missing) and not left[Fate.NOT_JUDGED]:
        raise missing[0] if missing else NothingToGate("no artifact: everything is excluded")
    used = {finding.waiver for file in checked for finding in file.findings}
    return GateResult(
        tuple(checked),
        tuple(map(str, consumers.releases)),
        tuple(waiver for waiver in policy.waivers if waiver not in used),
        tuple(left[Fate.NOT_JUDGED]),
        tuple(left[Fate.EXCLUDED]),
        others,
        strict,
        consumers.notes,
        consumers.uncovered,
        policy.rules.stage,
        policy.rules.assume,
    )


class Url(PosixPath):
    """A place on a server, as what a finding is about; as text it is its URL."""

    def __str__(self) -> str:
        return super().__str__().replace(":/", "://", 1)  # a path has no empty parts


def _where(path: str) -> Path:
    return Url(path) if "://" in path else Path(path)


# The Verdicts on one artifact, and the rules that it breaks.
_Looked: TypeAlias = tuple[tuple[Verdict, ...], list[tuple[Rule, str]]]


class _Check:
    """The policy, ready to be applied to one file after another."""

    def __init__(
        self,
        policy: Policy,
        consumers: tuple[Release, ...],
        observe: Observe | None,
        on: datetime.date | None,
    ) -> None:
        self.policy = policy
        last = datetime.time(23, 59, 59, tzinfo=datetime.UTC)
        self.now = datetime.datetime.combine(on, last) if on else None
        self.rules = policy.rules
        self.consumers = consumers
        self.observe = observe
        self._by_claim: dict[tuple[Version | None, int, Opener | None], tuple[Verdict, ...]] = {}
        self._excuses: dict[Waiver, set[str]] = {}
        self._waivers: tuple[Path | None, list[Waiver]] = (None, [])  # of the path at hand

    def found(self, found: Found) -> Iterator[Checked]:
        """Check every artifact of what was found; a file that is none is a finding."""
        path = _where(found.path)
        if found.container is None:
            finding = self._waived(Finding(path, Rule.ARTIFACT, str(found.error)))
            yield Checked(path, (finding,), ())
            return
        entries = found.container.artifacts()
        checked = [self._artifact(path, entry) for entry in entries]
        if found.container.kind is Kind.BUNDLE:
            checked = [*_needed(checked, [entry.member for entry in entries])]
        if self.rules.attested and (why := self._unattested(path, self.rules.attested)):
            finding = self._waived(Finding(path, Rule.ATTESTED, why))
            checked[0] = replace(checked[0], findings=(*checked[0].findings, finding))
        yield from checked

    def unfit(self, one: Recorded) -> str:
        """Say why what an audit has read does not suffice; nothing if it does."""
        if self.observe is not None:
            return "was read by an audit; --observe takes artifacts"
        if one.depth is Depth.HEADER and self.rules.depth is Depth.CONTENT and not one.error:
            return "its header was read in the audit; audit with --depth content"
        return ""

    def recorded(self, found: Sequence[Recorded]) -> Sequence[Checked]:
        """Check what an audit has read of an object, or of a bundle."""
        checked = [self._recorded(one) for one in found]
        members = [one.member for one in found]
        return [*_needed(checked, members)] if any(members) else checked

    def _recorded(self, one: Recorded) -> Checked:
        path = _where(one.path)
        if one.subject is None:
            error = Finding(path, Rule.ARTIFACT, one.error)
            return Checked(path, (self._waived(replace(error, inside=one.inside)),), (), one.inside)
        broken = [] if self._by_header else [*_broken(self.rules, one.subject)]
        if self.rules.attested and (why := self._unattested(path, self.rules.attested)):
            broken.append((Rule.ATTESTED, why))
        return self._checked(path, one.inside, self._predicted(one.subject), broken)

    def _unattested(self, path: Path, rule: Attested) -> str:
        """Say what is wrong with the signed statement beside a file; nothing if it is right."""
        if isinstance(path, Url):
            return "attestations are looked for beside files of this machine"
        try:
            said = verify(path, beside(path), key=rule.key, now=self.now, max_age=rule.max_age)
            missing = said.uncovered(*rule.must_cover, sets=self.policy.consumers)
        except PortableError as error:
            return str(error)
        return f"is not attested to be read by {', '.join(missing)}" if missing else ""

    def _artifact(self, path: Path, entry: Entry) -> Checked:
        try:
            look = self._header if self._by_header else self._content
            verdicts, broken = look(entry, place(path, entry.name))
        except PortableError as error:
            verdicts, broken = (), [(Rule.ARTIFACT, str(error))]
        except Exception as defect:  # noqa: BLE001 - a defect of ours costs this one, not the others
            verdicts, broken = (), [(Rule.ARTIFACT, f"cannot be judged: {defect!r:.200}")]
        return self._checked(path, entry.name, verdicts, broken)

    def _checked(
        self,
        path: Path,
        inside: str,
        verdicts: tuple[Verdict, ...],
        broken: Iterable[tuple[Rule, str]],
    ) -> Checked:
        findings = [Finding(path, rule, message, inside=inside) for rule, message in broken]
        findings += [
            self._unserved(path, inside, verdict, known=held is False)
            for verdict in verdicts
            if (held := verdict.holds(self.rules.stage)) is not True
        ]
        return Checked(path, tuple(map(self._waived, findings)), verdicts, inside)

    def _unserved(self, path: Path, inside: str, verdict: Verdict, *, known: bool) -> Finding:
        consumer, sets = verdict.consumer, self._sets[verdict.consumer]
        reason = f": {verdict.reason}" if verdict.reason else ""
        message = f"{with_sets(consumer, sets)}: {verdict.says} ({verdict.basis.value}){reason}"
        return Finding(
            path, Rule.CONSUMER, message, consumer, inside=inside, known=known, sets=sets
        )

    @functools.cached_property
    def _sets(self) -> defaultdict[str, tuple[str, ...]]:
        """The names of the sets that each consumer is in; none where there is one set."""
        found: defaultdict[str, tuple[str, ...]] = defaultdict(tuple)
        names = [want[1:] for want in self.rules.consumers if want.startswith("@")]
        for name in names if len(names) > 1 else ():
            for release in matching_releases(f"@{name}", consumers=self.policy.consumers):
                found[str(release)] += (name,)
        return found

    @property
    def _by_header(self) -> bool:
        return self.rules.depth is Depth.HEADER and self.observe is None

    def _header(self, entry: Entry, where: str) -> _Looked:
        header = Artifact.from_bytes(entry.head(HEADER_BYTES), where=where).header
        claim = (header.version, header.format, entry.opener)
        if claim not in self._by_claim:
            self._by_claim[claim] = self._predicted(Subject.claim(*claim))
        return self._by_claim[claim], []

    def _content(self, entry: Entry, where: str) -> _Looked:
        artifact = Artifact.from_bytes(entry.data, where=where)
        subject = replace(examine(artifact), opener=entry.opener)
        verdicts = self._predicted(subject)
        if self.observe is not None:
            verdicts += (self.observe(artifact),)
        return verdicts, [*_broken(self.rules, subject)]

    def _predicted(self, subject: Subject) -> tuple[Verdict, ...]:
        return predict_all(
            subject.providing(self.rules.provided_custom_calls, self.rules.devices),
            self.consumers,
            stage=self.rules.stage,
            assume=self.rules.assume,
        )

    def _waived(self, finding: Finding) -> Finding:
        if self._waivers[0] != finding.path:  # there may be many, of a path and of the policy
            where = self._relative(finding.path)
            found = [one for one in self.policy.waivers if fnmatchcase(where, one.path)]
            self._waivers = finding.path, found
        for waiver in self._waivers[1]:
            if waiver.rule is finding.rule and self._applies_to(waiver, finding):
                return replace(finding, waiver=waiver)
        return finding

    def _applies_to(self, waiver: Waiver, finding: Finding) -> bool:
        return not waiver.consumer or finding.consumer in self._excused(waiver)

    def _relative(self, where: Path) -> str:
        """Return a path relative to the policy where it is below it; a URL as it is."""
        if isinstance(where, Url):
            return str(where)
        # Without `..`, and with links as they are named.
        path, root = (Path(os.path.abspath(one)) for one in (where, self.policy.root))  # noqa: PTH100 - `resolve` follows links
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)

    def _excused(self, waiver: Waiver) -> set[str]:
        if waiver not in self._excuses:
            excused = matching_releases(waiver.consumer, consumers=self.policy.consumers)
            self._excuses[waiver] = {str(release) for release in excused}
        return self._excuses[waiver]


def _needed(checked: Sequence[Checked], members: Sequence[str]) -> Iterator[Checked]:
    """Leave out that a consumer does not read one Version of a bundle where it reads another."""
    refused: dict[str, set[str]] = {member: set() for member in members}
    for one, member in zip(checked, members, strict=True):
        refused[member] |= {finding.consumer for finding in one.findings if _decides(finding)}
    # What cannot be judged, a finding without a consumer, serves none.
    whole = [consumers for consumers in refused.values() if "" not in consumers]
    for one in checked:
        kept = (
            finding
            for finding in one.findings
            if not finding.consumer or all(finding.consumer in consumers for consumers in whole)
        )
        yield replace(one, findings=tuple(kept))


def _decides(finding: Finding) -> bool:
    return finding.rule in {Rule.CONSUMER, Rule.ARTIFACT}


def _broken(rules: Rules, subject: Subject) -> Iterator[tuple[Rule, str]]:
    """Yield the rules about the content that an artifact breaks."""
    foreign = sorted(subject.foreign - rules.dialects)
    if foreign:
        yield Rule.DIALECTS, f"has {', '.join(foreign)}, which is not StableHLO and not allowed"
    if rules.custom_calls is not None:
        for name in sorted(subject.custom_calls - subject.called(rules.custom_calls)):
            yield Rule.CUSTOM_CALLS, f"calls {name!r}, which is not allowed"
    locations = subject.names("location")
    if rules.locations is LocationRule.NONE and locations:
        yield Rule.LOCATIONS, f"carries locations ({', '.join(sorted(locations))})"
    if rules.locations is LocationRule.POINTS and RANGE in locations:
        yield Rule.LOCATIONS, "carries location ranges, which readers before 1.8.5 do not know"


def with_sets(consumer: str, sets: Sequence[str]) -> str:
    """Name a consumer, or several, and the sets of the policy that they are in."""
    return f"{consumer} ({', '.join(sets)})" if sets else consumer
