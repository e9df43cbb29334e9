"""Sign or verify a statement about which consumers read an artifact or a bundle.

sign predicts the Verdicts of the consumers, or takes the observations of --matrix, and writes them
to FILE.sigstore.json or --output, signed with the private key --key. verify checks with the public
key --key that such a file is signed, applies to exactly these bytes, is not older than --max-age,
and says that every consumer of --for reads them. It needs no network, unless FILE is in a registry,
which then has the attestation too. attach verifies an attestation and sends it to the registry that
has the artifact or bundle, whoever pushed it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from portable.attestation import SUFFIX, beside, parse_age, sign, verify
from portable.bundle import SCHEME, attach, verify_attached
from portable.cli.options import add
from portable.cli.output import demand_apart, print_json, say, write_bytes
from portable.cli.usage import BadUsage
from portable.system.files import InputFile

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    from portable.attestation import Sighting

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable attest sign model.mlir.bc --for 'jaxlib>=0.5' --key private.pem
portable attest sign model.mlir.bc --for 'jaxlib>=0.5' --key private.pem --matrix seen.json
portable attest sign model.bundle --for 'jaxlib>=0.5' --key private.pem -o model.sigstore.json
portable attest verify model.mlir.bc --key public.pem --max-age 90d --for 'jaxlib>=0.5'
portable attest verify oci://registry.example:5000/model:1 --key public.pem --for 'jaxlib>=0.5'
portable attest attach oci://registry.example:5000/model:1 --attestation F.json --key public.pem
"""
EXIT_CODES = {
    0: "signed, verified, or sent",
    1: "verified, but it does not say that every consumer of --for reads it",
    2: "not signed with this key, about something else, too old, damaged, or bad usage",
}


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("action", choices=sorted(_ACTIONS), help="what to do")
    parser.add_argument(
        "subject",
        metavar="FILE",
        help="an artifact, an Exported, or a bundle; verify, attach: oci://host/name:tag",
    )
    parser.add_argument(
        "--key", required=True, metavar="FILE.pem", help="the private key (sign), or the public one"
    )
    add(parser, "--attestation", default_help=f"FILE{SUFFIX}, or what the registry has")
    parser.add_argument(
        "--matrix",
        metavar="FILE.json",
        help="sign: what portable matrix observed of FILE; it counts more than a prediction",
    )
    parser.add_argument(
        "--max-age", metavar="DAYS", help="verify: how old it may be, for example 90d"
    )
    add(parser, "--for", "--output", "--format")


def run(chosen: argparse.Namespace) -> int:
    """Sign or verify."""
    return _ACTIONS[chosen.action](chosen)


def _sign(chosen: argparse.Namespace) -> int:
    if not chosen.consumers:
        raise BadUsage("missing --for", hint="e.g. --for 'jaxlib>=0.5'")
    if chosen.attestation or chosen.max_age:
        raise BadUsage("--attestation and --max-age are for verify")
    output = chosen.output or beside(chosen.subject)
    demand_apart(output, chosen.subject, chosen.key, chosen.matrix)
    sightings: tuple[Sighting, ...] = ()
    inputs = {}
    if chosen.matrix:
        from portable.cli.matrix import read_matrix  # not for those who verify

        sightings = read_matrix(chosen.matrix).sightings
        inputs = {Path(chosen.matrix).name: InputFile(chosen.matrix).sha256()}
    data = sign(
        chosen.subject, *chosen.consumers, key=chosen.key, sightings=sightings, inputs=inputs
    )
    write_bytes(output, data)
    if chosen.format == "json":
        print_json({"output": output})
    elif output != "-":
        say(f"{output}: signed")
    return 0


def _attach(chosen: argparse.Namespace) -> int:
    if not chosen.attestation or not chosen.subject.startswith(SCHEME):
        hint = "portable attest attach oci://host/name:tag --attestation FILE --key public.pem"
        raise BadUsage("attach takes a name in a registry and --attestation", hint=hint)
    if chosen.consumers or chosen.max_age or chosen.output or chosen.matrix:
        raise BadUsage("attach takes only --attestation and --key")
    found = attach(chosen.subject, chosen.attestation, key=chosen.key)
    if chosen.format == "json":
        print_json({"output": chosen.subject})
    else:
        say(f"{chosen.subject}: attested on {found.made:%Y-%m-%d %H:%M} UTC")
    return 0


def _verify(chosen: argparse.Namespace) -> int:
    if chosen.output or chosen.matrix:
        raise BadUsage("--output and --matrix are for sign")
    age = parse_age(chosen.max_age) if chosen.max_age else None
    if chosen.subject.startswith(SCHEME):
        if chosen.attestation:
            raise BadUsage("--attestation is for what is on this machine")
        found = verify_attached(chosen.subject, key=chosen.key, max_age=age)
    else:
        path = chosen.attestation or beside(chosen.subject)
        found = verify(chosen.subject, path, key=chosen.key, max_age=age)
    missing = found.uncovered(*chosen.consumers) if chosen.consumers else ()
    if chosen.format == "json":
        said = {"made": found.made.isoformat(), "digest": found.digest}
        print_json({"statement": said | found.predicate, "not_said_to_read": list(missing)})
    else:
        say(f"{chosen.subject}: attested on {found.made:%Y-%m-%d %H:%M} UTC")
        for consumer, verdict in found.verdicts.items():
            say(f"  {consumer}: {verdict.get('says')} ({verdict.get('basis')})")
        for consumer in missing:
            say(f"  not attested to read it: {consumer}")
    return 1 if missing else 0


_ACTIONS: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "attach": _attach,
    "sign": _sign,
    "verify": _verify,
}
