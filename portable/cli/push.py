"""Send a bundle, or an artifact or a container alone, to a registry.

Only the files that the registry lacks are sent. Loopback addresses are contacted without TLS;
credentials are those of `docker login`. skopeo and oras can send the directory, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.bundle import push
from portable.cli.options import add
from portable.cli.output import print_json, say
from portable.cli.progress import waiting

if TYPE_CHECKING:
    import argparse

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable push model.bundle oci://registry.example:5000/model:1
portable push model.bundle oci://registry.example:5000/model --attestation model.sigstore.json
portable push model.mlir.bc oci://registry.example:5000/model:1.9.0
"""
EXIT_CODES = {
    0: "sent",
    2: "the registry refuses it, it is damaged or no artifact, or bad usage",
}


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("path", metavar="PATH", help="a bundle, an artifact or a container")
    parser.add_argument("reference", metavar="REFERENCE", help="oci://host[:port]/name:tag")
    add(parser, "--attestation", default_help="none is sent")
    add(parser, "--format")


def run(chosen: argparse.Namespace) -> int:
    """Send a bundle."""
    with waiting(f"{chosen.path}: sending it to {chosen.reference}"):
        digest = push(chosen.path, chosen.reference, attestation=chosen.attestation)
    if chosen.format == "json":
        print_json({"reference": chosen.reference, "digest": digest})
    else:
        say(f"{chosen.reference}: {digest}")
    return 0
