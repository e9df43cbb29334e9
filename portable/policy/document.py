"""The policy file: `portable.toml`, or `[tool.portable]` in `pyproject.toml`.

    releases = "releases.toml"               # Releases of your own, beside the shipped table

    [consumers]                              # named sets; a set may name others
    serving = ["jaxlib>=0.5,<0.13", "tensorflow~=2.18"]
    phones = ["./vendor/pjrt_plugin.so"]     # read statically, never loaded
    all = ["@serving", "iree-base-compiler>=3.0"]

    [rules]
    consumers = ["@all"]                     # who must read every artifact; default: every set
    depth = "content"                        # or "header": trust the claimed Version, faster
    stage = "decode"                         # how far it must be known: also compile, execute
    locations = "any"                        # or "points", or "none"
    dialects = ["sdy"]                       # allowed beside StableHLO; default: none
    custom_calls = ["Sharding", "mhlo.*"]    # allowed targets; default: any
    provided_custom_calls = ["mhlo.my_*"]    # targets that every consumer is given a handler of
    devices = 8                              # that every consumer has
    assume = ["no-nan", "in-bounds"]         # of the values that artifacts are run on
    attested = { key = "release.pub", max_age = "90d", must_cover = ["@serving"] }
    include = ["*.bc"]                       # further names of artifacts
    exclude = ["third_party", "old/*.bc"]    # what is not judged

    [[waivers]]
    rule = "consumer"                        # ..., locations, dialects, custom-calls, artifact,
                                             # attested
    path = "legacy/*.mlir.bc"
    consumer = "jaxlib==0.9.1"               # only for the rule `consumer`; default: any
    reason = "retired in March"
    expires = 2027-03-31

Every error names the key that is wrong.
"""

from __future__ import annotations

import datetime
import enum
import os
from dataclasses import dataclass, field, replace
from dataclasses import fields as dataclass_fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from portable.attestation import AttestationError, parse_age
from portable.errors import PortableError
from portable.policy.keys import Keys, PolicyError
from portable.releases import resolve_target
from portable.releases.assumption import find_assumptions
from portable.releases.release import use_table
from portable.releases.requests import names_file, names_plugin
from portable.system.arguments import demand_type
from portable.system.documents import parse_toml
from portable.system.files import read_file
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "Attested",
    "ContradictoryPolicy",
    "Depth",
    "ExpiredWaiver",
    "LocationRule",
    "Policy",
    "PolicyNotFound",
    "Rule",
    "Rules",
    "Waiver",
    "find_policy",
    "load_policy",
    "parse_policy",
]

_FILE = "portable.toml"
# Each is compared with the path of each file; the standard library keeps the patterns of so many.
_MOST_WAIVERS = 10_000


class ContradictoryPolicy(PolicyError):
    """Two parts of the policy cannot both hold."""


class ExpiredWaiver(PolicyError):
    """A waiver is past its date: fix the violation, or renew the waiver."""


class PolicyNotFound(PolicyError):
    """There is no policy file here or above."""


class Rule(enum.Enum):
    """The rule that a finding breaks."""

    ARTIFACT = "artifact"
    CONSUMER = "consumer"
    LOCATIONS = "locations"
    DIALECTS = "dialects"
    CUSTOM_CALLS = "custom-calls"
    ATTESTED = "attested"

    def __str__(self) -> str:
        return self.value


class Depth(enum.Enum):
    """How much of an artifact is read."""

    HEADER = "header"
    CONTENT = "content"

    def __str__(self) -> str:
        return self.value


class LocationRule(enum.Enum):
    """Which source locations an artifact may carry."""

    ANY = "any"
    POINTS = "points"  # no ranges
    NONE = "none"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Attested:
    """The signed statement that every file needs beside it.

    Args:
        key: The public key, in PEM.
        max_age: How old the statement may be; None for any age.
        must_cover: The consumers that it has to call compatible, as requests of `resolve_target`.
    """

    key: str
    max_age: datetime.timedelta | None = None
    must_cover: tuple[str, ...] = ()


_OF_TEXTS = (
    "consumers",
    "dialects",
    "custom_calls",
    "provided_custom_calls",
    "assume",
    "include",
    "exclude",
)


@dataclass(frozen=True, slots=True)
class Rules:
    """What every artifact must satisfy.

    Args:
        consumers: Who must read it, as requests of `resolve_target`.
        depth: How much of it is read.
        stage: How far it is judged: an obstacle at a later Stage counts too, what is not known up
            to this one is no pass.
        locations: Which locations it may carry.
        dialects: Which dialects it may have beside StableHLO.
        custom_calls: Which custom-call targets it may name, as patterns; None allows any.
        provided_custom_calls: Targets for which every consumer has a handler, as patterns.
        devices: How many devices every consumer has; None if not declared.
        assume: The Assumptions about the values that artifacts are run on, as `no-nan`.
        attested: What a signed statement beside each file has to say; None for nothing.
        include: More names that mark artifacts, as patterns. A file with such a name has to be an
            artifact; an artifact by content is judged whatever its name.
        exclude: Which files and folders are not judged, as patterns of `.gitignore` relative to the
            policy file.
    """

    consumers: tuple[str, ...] = ()
    depth: Depth = Depth.CONTENT
    stage: Stage = Stage.DECODE
    locations: LocationRule = LocationRule.ANY
    dialects: frozenset[str] = frozenset()
    custom_calls: tuple[str, ...] | None = None
    provided_custom_calls: tuple[str, ...] = ()
    devices: int | None = None
    assume: frozenset[str] = frozenset()
    attested: Attested | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what would be no rule, and be passed by.

        Raises:
            TypeError: A field is of another type.
        """
        for name, kind in {"depth": Depth, "stage": Stage, "locations": LocationRule}.items():
            demand_type(name, getattr(self, name), kind)
        for name in _OF_TEXTS:
            if isinstance(getattr(self, name), str):  # the letters of which would be taken
                raise TypeError(f"{name} must be several texts, not one")


@dataclass(frozen=True, slots=True)
class Waiver:
    """A finding that is known and excused for a while.

    Args:
        rule: The rule whose findings it excuses.
        path: The files, as a pattern relative to the policy file.
        reason: Why.
        expires: The last day on which it applies.
        consumer: The Releases, as a specifier; empty for any.
    """

    rule: Rule
    path: str
    reason: str
    expires: datetime.date
    consumer: str = ""


@dataclass(frozen=True, slots=True)
class Policy:
    """A project's policy.

    Args:
        consumers: Named sets of consumers.
        rules: What every artifact must satisfy.
        waivers: What is excused.
        root: The folder that the paths of waivers are relative to.
        where: The file it came from, for errors.
        releases: The table of Releases that it names beside the shipped one.
    """

    consumers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rules: Rules = field(default_factory=Rules)
    waivers: tuple[Waiver, ...] = ()
    root: Path = field(default_factory=Path)
    where: str = "policy"
    releases: Path | None = None

    def __repr__(self) -> str:
        return f"<Policy {self.where!r}, {len(self.waivers)} waivers>"

    def demand_unexpired(self, on: datetime.date) -> None:
        """Raise when a waiver is past its date.

        Raises:
            ExpiredWaiver: The first that is.
        """
        for position, waiver in enumerate(self.waivers):
            if waiver.expires < on:
                raise ExpiredWaiver(
                    f"expired on {waiver.expires}: {waiver.reason}",
                    where=f"{self.where}: waivers[{position}] ({waiver.rule}, {waiver.path})",
                    hint="fix the finding, or set a new date with a reason",
                )


def find_policy(start: str | os.PathLike[str] = ".") -> Path:
    """Find the policy file of a folder.

    Args:
        start: The folder.

    Returns:
        The nearest `portable.toml`, or `pyproject.toml` with `[tool.portable]`, here or above.

    Raises:
        PolicyNotFound: There is none.
        FileError: A `pyproject.toml` cannot be read.
    """
    folder = Path(start).absolute()
    for here in (folder, *folder.parents):
        # Also what is no file, such as a broken link: it hands over to no other policy.
        if os.path.lexists(here / _FILE):
            return here / _FILE
        project = here / "pyproject.toml"
        if os.path.lexists(project) and "portable" in _tool_table(_toml(project)):
            return project
    raise PolicyNotFound(
        f"no {_FILE} and no [tool.portable] in {folder} or above",
        hint="create one, or give --policy FILE",
    )


def load_policy(
    path: str | os.PathLike[str] | None = None,
    *,
    consumers: Sequence[str] = (),
    load_plugins: bool = False,
) -> Policy:
    """Read and check a policy file.

    Args:
        path: The file; None looks for it from the current folder upwards.
        consumers: As for `parse_policy`.
        load_plugins: As for `parse_policy`.

    Returns:
        The policy.

    Raises:
        FileError: It cannot be read.
        PolicyError: Something in it is wrong; the error names the key.
    """
    file = find_policy() if path is None else Path(path)
    fields = _toml(file)
    if file.name == "pyproject.toml":
        tool = _tool_table(fields)
        if "portable" not in tool:
            raise PolicyNotFound("has no [tool.portable]", where=str(file))
        policy, where = tool["portable"], f"{file}: tool.portable"
    else:
        policy, where = fields, str(file)
    return parse_policy(
        policy, root=file.parent, where=where, consumers=consumers, load_plugins=load_plugins
    )


def parse_policy(
    fields: object,
    *,
    root: str | os.PathLike[str] = ".",
    where: str = "policy",
    consumers: Sequence[str] = (),
    load_plugins: bool = False,
) -> Policy:
    """Check a policy that is already parsed.

    Args:
        fields: The parsed TOML.
        root: The folder that paths are relative to.
        where: Its name in errors.
        consumers: The consumers, instead of those of its rules.
        load_plugins: Let consumers such as `plugin:libx.so` be loaded, in a child process. Policies
            come with the artifacts, from people whose code must not run here.

    Returns:
        The policy.

    Raises:
        PolicyError: Something in it is wrong.
    """
    top = Keys.of(fields, where)
    table = Path(root, top.text("releases")).absolute() if "releases" in top.fields else None
    use_table(table)
    sets = top.names("consumers")
    policy = Policy(
        consumers={name: _placed(sets.texts(name), root) for name in sets.fields},
        rules=_rules(top.table("rules"), tuple(f"@{name}" for name in sets.fields), root),
        waivers=_waivers(top),
        root=Path(root),
        where=where,
        releases=table,
    )
    top.nothing_else({"consumers", "releases", "rules", "waivers"})
    if not load_plugins:
        _demand_no_plugin(policy)
    _demand_consistent(policy)
    if consumers:
        return replace(policy, rules=replace(policy.rules, consumers=tuple(consumers)))
    if not policy.rules.consumers:
        raise PolicyError("no consumers", where=f"{where}: rules.consumers")
    return policy


def _placed(requests: Sequence[str], root: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return requests; a runtime that is named by a relative path lies beside the policy."""
    return tuple(
        str(Path(root) / request) if names_file(request) else request for request in requests
    )


def _rules(keys: Keys, every_set: tuple[str, ...], root: str | os.PathLike[str]) -> Rules:
    keys.nothing_else(_names(Rules))
    calls = keys.patterns("custom_calls") if "custom_calls" in keys.fields else None
    stages = {str(stage): stage for stage in Stage}
    stage = keys.text("stage", default=str(Stage.DECODE))
    if stage not in stages:
        raise keys.wrong("stage", f"{stage!r} is not one of {', '.join(stages)}")
    return Rules(
        consumers=_placed(keys.texts("consumers"), root)
        if "consumers" in keys.fields
        else every_set,
        depth=keys.choice("depth", Depth, Depth.CONTENT),
        stage=stages[stage],
        locations=keys.choice("locations", LocationRule, LocationRule.ANY),
        dialects=frozenset(keys.texts("dialects")) if "dialects" in keys.fields else frozenset(),
        custom_calls=calls,
        provided_custom_calls=keys.patterns("provided_custom_calls"),
        devices=_devices(keys),
        assume=_assumptions(keys),
        attested=_attested(keys.table("attested"), root) if "attested" in keys.fields else None,
        include=keys.patterns("include"),
        exclude=keys.patterns("exclude"),
    )


def _devices(keys: Keys) -> int | None:
    """Return how many devices every consumer has."""
    count = keys.fields.get("devices")
    if count is None or (type(count) is int and count > 0):
        return count
    raise keys.wrong("devices", f"{count!r} is not a number of devices")


def _assumptions(keys: Keys) -> frozenset[str]:
    """Return what is assumed of the values that artifacts are run on."""
    try:
        return find_assumptions(keys.texts("assume") if "assume" in keys.fields else ())
    except ValueError as error:
        raise keys.wrong("assume", str(error)) from None


def _attested(keys: Keys, root: str | os.PathLike[str]) -> Attested:
    keys.nothing_else(_names(Attested))
    max_age = None
    if "max_age" in keys.fields:
        try:
            max_age = parse_age(keys.text("max_age"))
        except AttestationError as error:
            raise keys.wrong("max_age", str(error)) from None
    must_cover = _placed(keys.texts("must_cover"), root) if "must_cover" in keys.fields else ()
    return Attested(str(Path(root) / keys.text("key")), max_age, must_cover)


def _waivers(top: Keys) -> tuple[Waiver, ...]:
    tables = top.tables("waivers")
    if len(tables) > _MOST_WAIVERS:
        raise top.wrong("waivers", f"{len(tables):,}, above the limit of {_MOST_WAIVERS:,}")
    found = tuple(map(_waiver, tables))
    top.demand_few("waivers", (one.path for one in found))
    return found


def _waiver(keys: Keys) -> Waiver:
    keys.nothing_else(_names(Waiver))
    expires = keys.fields.get("expires")
    if isinstance(expires, datetime.datetime) or not isinstance(expires, datetime.date):
        raise keys.wrong("expires", "must be a date such as 2027-03-31, without quotes")
    return Waiver(
        rule=keys.choice("rule", Rule),
        path=keys.pattern("path"),
        reason=keys.reason("reason"),
        expires=expires,
        consumer=keys.text("consumer", default=""),
    )


def _names(kind: type[Attested | Rules | Waiver]) -> set[str]:
    return {one.name for one in dataclass_fields(kind)}


def _demand_no_plugin(policy: Policy) -> None:
    named = _requests(policy)
    for position, waiver in enumerate(policy.waivers):
        named[f"waivers[{position}].consumer"] = (waiver.consumer,)
    for key, requests in named.items():
        for request in filter(names_plugin, requests):
            raise PolicyError(
                f"{request!r:.200} is a shared library, which a policy does not load by default",
                where=f"{policy.where}: {key}",
                hint="name the file without plugin: to read it statically, or use --load-plugins",
            )


def _requests(policy: Policy) -> dict[str, tuple[str, ...]]:
    """Return who is named as a consumer, by the key that names them."""
    rules = policy.rules
    found = {f"consumers.{name}": requests for name, requests in policy.consumers.items()}
    if rules.consumers:
        found["rules.consumers"] = rules.consumers
    if rules.attested and rules.attested.must_cover:
        found["rules.attested.must_cover"] = rules.attested.must_cover
    return found


def _demand_consistent(policy: Policy) -> None:
    rules, where = policy.rules, policy.where
    for key, requests in _requests(policy).items():
        _demand_answer(policy, requests, key)
    content = {
        "locations": rules.locations is not LocationRule.ANY,
        "dialects": bool(rules.dialects),
        "custom_calls": rules.custom_calls is not None,
        "provided_custom_calls": bool(rules.provided_custom_calls),
        "devices": rules.devices is not None,
        "assume": bool(rules.assume),
        "stage": rules.stage > Stage.DECODE,
    }
    if rules.depth is Depth.HEADER and any(content.values()):
        asked = next(name for name, is_asked in content.items() if is_asked)
        raise ContradictoryPolicy(
            f"requires the content, but rules.depth is {Depth.HEADER}",
            where=f"{where}: rules.{asked}",
            hint='set depth = "content"',
        )
    for provided in rules.provided_custom_calls:
        allowed = rules.custom_calls
        if allowed is not None and not any(fnmatchcase(provided, one) for one in allowed):
            raise ContradictoryPolicy(
                f"{provided!r} is provided, but rules.custom_calls does not allow it",
                where=f"{where}: rules.provided_custom_calls",
                hint="add it to custom_calls",
            )
    seen: dict[tuple[Rule, str, str], int] = {}
    for position, waiver in enumerate(policy.waivers):
        key = f"{where}: waivers[{position}]"
        if waiver.consumer and waiver.rule is not Rule.CONSUMER:
            raise ContradictoryPolicy(f"rule {waiver.rule} has no consumer", where=key)
        if waiver.consumer:
            _demand_answer(policy, (waiver.consumer,), f"waivers[{position}].consumer")
        first = seen.setdefault((waiver.rule, waiver.path, waiver.consumer), position)
        if first != position:
            raise ContradictoryPolicy(f"duplicates waivers[{first}]", where=key)


def _demand_answer(policy: Policy, requests: tuple[str, ...], key: str) -> None:
    """Raise when requests have no answer, so that a policy fails where it is written."""
    try:
        resolve_target(*requests, consumers=policy.consumers)
    except PortableError as error:
        raise PolicyError(str(error), where=f"{policy.where}: {key}") from error


def _toml(path: Path) -> dict[str, object]:
    try:
        return parse_toml(read_file(path))
    except ValueError as error:
        raise PolicyError(str(error), where=str(path)) from error


def _tool_table(fields: Mapping[str, object]) -> Mapping[str, object]:
    tool = fields.get("tool", {})
    return tool if isinstance(tool, dict) else {}
