"""Seal artifacts: have each written by the real Release of its time, once, and never again.

For every Case: at its first target, at every target where the bytes after the header change, at the
newest, and for some Cases at every minor. The writer is the oldest jaxlib whose Version is the
target's, or else the oldest that is newer; it runs in its own environment, one process for all of
its jobs. What it wrote has to read back, with the newest jaxlib, as the same program; where it does
not, the next Release writes it and the Case's manifest says why.

Nothing that is sealed is ever written again: this tool only adds files and lines.

    python -m tools seal            seal what is missing
    python -m tools seal --check    exit 1 if anything is missing or broken
    python -m tools seal --since origin/main    exit 1 if a seal of that revision is gone or another
"""

from __future__ import annotations

import argparse
import base64
import datetime
import json
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from portable.corpus import MOVED, SEALS, Case, Seals, load_corpus
from portable.releases import Release, releases
from portable.runtime.environments import Environments
from portable.version import Version
from tools.full_scan import TARGETS, Scanner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from portable.system.worker import Answer, Worker


CORPUS = Path(__file__).parent.parent / "corpus"


@dataclass(frozen=True, slots=True)
class Job:
    """One artifact that is to be written.

    Args:
        case: For which Case.
        target: For which Version.
        draft: The same, written by the newest jaxlib: what a producer reads and writes again.
    """

    case: Case
    target: str
    draft: bytes


def wanted_targets(case: Case, drafts: dict[str, bytes]) -> list[str]:
    """Choose the targets at which an artifact is evidence of its own.

    Args:
        case: The Case.
        drafts: Its artifact at every target from its first on, lowest first.

    Returns:
        The first and the newest, those where the bytes after the header change, or all.
    """
    if case.every_minor:
        return list(drafts)
    chosen, previous = [], None
    for target, artifact in drafts.items():
        if (content := payload(artifact)) != previous:
            chosen.append(target)
        previous = content
    newest = list(drafts)[-1]
    return chosen if newest in chosen else [*chosen, newest]


def payload(artifact: bytes) -> bytes:
    """Return the format version and everything after the producer's name."""
    end = artifact.index(b"\0", 4)
    return artifact[4:5] + artifact[end:]


def candidates(target: str) -> list[Release]:
    """Return who may write for a target: one jaxlib a minor, the contemporaneous first."""
    oldest: dict[Version, Release] = {}
    for release in releases("jaxlib"):
        if isinstance(release.current, Version):
            minor = release.current.target
            known = oldest.get(minor)
            if known is None or release.date < known.date:
                oldest[minor] = release
    return [oldest[minor] for minor in sorted(oldest) if minor >= Version.parse(target)]


def is_mixed(case: Case) -> bool:
    """Say whether the program holds more than StableHLO, which has to be allowed explicitly."""
    return "sdy." in case.program


def missing(case: Case, scanner: Scanner) -> Iterator[Job]:
    """Find what is not sealed yet.

    Yields:
        One job for each artifact.
    """
    mixed = is_mixed(case)
    drafts = {}
    for target in TARGETS:
        if Version.parse(target) >= case.first:
            draft = scanner.serialize(case.program, target, mixed=mixed, sourceless=True)
            assert draft is not None, f"{case.name} cannot be written for {target}"
            drafts[target] = draft
    sealed = {str(artifact.target) for artifact in case.artifacts}
    for target in wanted_targets(case, drafts):
        if target not in sealed:
            yield Job(case, target, drafts[target])


def faithful(scanner: Scanner, job: Job, artifact: bytes) -> bool:
    """Say whether an artifact is for its target and reads back as the program."""
    if f"StableHLO_v{job.target}\0".encode() not in artifact[:64]:
        return False
    locations = job.case.family == "locations"
    read = scanner.canonical(artifact, locations=locations)
    return read is not None and read == scanner.canonical(job.draft, locations=locations)


# Run by the Release itself: read an artifact that mixes dialects and write it again.
_MIXED = """
import sys
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import chlo, sdy, stablehlo
context = ir.Context()
for dialect in (chlo, sdy, stablehlo):
    dialect.register_dialect(context)
module = stablehlo.deserialize_portable_artifact(context, sys.stdin.buffer.read())
artifact = stablehlo.serialize_portable_artifact(module, sys.argv[1], True)
sys.stdout.buffer.write(artifact)
"""


def ask_mixed(python: Path, job: Job, scanner: Scanner) -> tuple[bytes | None, str]:
    """Have one Release write one artifact with ops or attributes of other dialects.

    Returns:
        The artifact, or None and why not.
    """
    command = [str(python), "-I", "-c", _MIXED, job.target]
    done = subprocess.run(command, input=job.draft, capture_output=True, check=False, timeout=60)
    if done.returncode == 0 and faithful(scanner, job, done.stdout):
        return done.stdout, ""
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return None, lines[-1] if lines else "what it writes reads back as another program"


def ask(worker: Worker, job: Job, scanner: Scanner) -> tuple[bytes | None, str]:
    """Have one Release write one artifact, from the newest one's bytes or from the text.

    Returns:
        The artifact, or None and why not.
    """
    common = {"target": job.target, "want": ["artifact"]}
    data = base64.b64encode(job.draft).decode()
    reason = ""
    for attempt in (
        {"kind": "rewrite", "data": data, **common},
        {"kind": "write", "text": job.case.program, "strip": True, **common},
    ):
        answer: Answer = worker.ask(attempt)
        if not answer.ok:
            reason = reason or answer.reason
            continue
        artifact = base64.b64decode(answer.payload["artifact"])
        if faithful(scanner, job, artifact):
            return artifact, ""
        reason = "what it writes reads back as another program"
    return None, reason


def seal_artifacts(jobs: list[Job], scanner: Scanner) -> list[Job]:
    """Write the artifacts, Release by Release, and return those that were not written."""
    environments = Environments()
    queue: dict[Release, list[tuple[Job, list[Release]]]] = defaultdict(list)
    for job in jobs:
        first, *others = candidates(job.target)
        queue[first].append((job, others))
    unwritten = []
    while queue:
        release = min(queue, key=lambda each: each.date)
        batch = queue.pop(release)
        refused = 0
        environment = environments.get(release)
        with environment.worker() as worker:
            for job, others in batch:
                if is_mixed(job.case):
                    artifact, reason = ask_mixed(environment.python, job, scanner)
                else:
                    artifact, reason = ask(worker, job, scanner)
                if artifact is not None:
                    store(job, release, artifact)
                    continue
                refused += 1
                _note_exception(job.case, release, reason)
                if others:
                    queue[others[0]].append((job, others[1:]))
                else:
                    unwritten.append(job)
        print(f"{release}: {len(batch) - refused} written, {refused} not", flush=True)
    return unwritten


def store(job: Job, release: Release, artifact: bytes) -> None:
    """Write an artifact under its name; an error if there is one already."""
    folder = job.case.directory / "artifacts"
    folder.mkdir(exist_ok=True)
    name = f"{job.target}+{release.distribution}-{release.version}.mlir.bc"
    # "x" fails on a file that is there: a seal is never written twice.
    with (folder / name).open("xb") as stream:
        stream.write(artifact)


def _note_exception(case: Case, release: Release, reason: str) -> None:
    """Append to the manifest that a Release does not do what its Version says; once."""
    manifest = case.directory / "case.toml"
    consumer = json.dumps(f"{release.distribution}=={release.version}")
    text = manifest.read_text("utf-8")
    if f"consumer = {consumer}" in text:
        return
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    text += (
        f'\n[[exception]]\nconsumer = {consumer}\nstage = "roundtrip"\n'
        f"reason = {json.dumps(reason[:200])}\n"
        f'link = "observed by tools/seal.py on {today}"\n'
    )
    manifest.write_text(text, "utf-8")


def rewritten(before: str, now: str) -> list[str]:
    """Return the seals that are gone or say something else: seals are only ever added.

    Args:
        before: The text of an older SEALS; folders may have been renamed since, as MOVED says.
        now: The text of the present one.
    """
    moves = dict(line.split() for line in (CORPUS / MOVED).read_text("utf-8").splitlines())
    return sorted({_renamed(line, moves) for line in before.splitlines()} - {*now.splitlines()})


def _renamed(seal: str, moves: dict[str, str]) -> str:
    """Return a seal with the name that its file has now."""
    value, _, path = seal.partition("  ")
    folder, slash, rest = path.partition("/")
    return f"{value}  {moves.get(folder, folder)}{slash}{rest}"


def _since(revision: str) -> int:
    command = ["git", "show", f"{revision}:corpus/{SEALS}"]
    shown = subprocess.run(command, cwd=CORPUS.parent, capture_output=True, text=True, check=True)
    changed = rewritten(shown.stdout, (CORPUS / SEALS).read_text("utf-8"))
    for line in changed:
        print(f"sealed at {revision} and changed since: {line}", file=sys.stderr)
    return 1 if changed else 0


def main() -> int:
    """Seal what is missing, or only say what is with `--check`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--since", metavar="REVISION", help="compare the seals with older ones")
    arguments = parser.parse_args()
    if arguments.since:
        return _since(arguments.since)
    scanner = Scanner()
    if Version.parse(scanner.current) < Version.parse(TARGETS[-1]):
        print(
            f"the installed jaxlib writes up to {scanner.current}, sealing needs {TARGETS[-1]}: "
            "install the newest jaxlib, on Python 3.12 or later",
            file=sys.stderr,
        )
        return 2
    jobs = [
        job
        for case in load_corpus(CORPUS)
        if case.family != "torch_xla"
        for job in missing(case, scanner)
    ]
    if arguments.check:
        broken = list(Seals.load(CORPUS).verify())
        for job in jobs:
            print(f"{job.case.name}: not sealed for {job.target}", file=sys.stderr)
        for each in broken:
            print(f"{each.path}: {each.defect}", file=sys.stderr)
        return 1 if jobs or broken else 0
    unwritten = seal_artifacts(jobs, scanner)
    for job in unwritten:
        print(f"{job.case.name}: no Release writes it for {job.target}", file=sys.stderr)
    _, added = Seals.complete(CORPUS)
    print(f"{len(jobs) - len(unwritten)} artifacts, {len(added)} files sealed")
    return 1 if unwritten else 0


if __name__ == "__main__":
    sys.exit(main())
