"""Samples of `tools.results` of Subjects that are made: a Verdict's rules, one by one.

Each differs in a field or two from an artifact in which there is nothing: the Version that it
claims, what it needs, a form that it has or perhaps has, how many devices it is for.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from typing import TYPE_CHECKING

from portable.containers.container import Opener
from portable.features import Feature, FeatureKind, RemovedForm
from portable.prediction import predict_all
from portable.prediction.forms import FORMS
from portable.prediction.subject import Subject
from portable.releases import find_release
from portable.releases.advisory import advised_features
from portable.verdict import Stage
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["RELEASES", "of_subjects"]

RELEASES = (
    *("iree-base-compiler 3.13.0", "libtpu 0.0.30", "tensorflow 2.20.0", "torch-xla 2.9.0"),
    *(f"jaxlib {one}" for one in ("0.4.13", "0.4.20", "0.4.33", "0.5.3", "0.9.1", "0.12.0.1")),
)
"""Of each Executor, and of each era of jaxlib; by name, so that a new Release changes nothing."""

_LAST = Version(99, 0, 0)
_KNOWN = (*map(Version.parse, ("0.9.0", "1.0.0", "1.8.5", "1.22.0")), _LAST)
_VERSIONS = (None, *_KNOWN)
_EMPTY = replace(Subject.claim(Version.parse("1.0.0"), 6), signatures=frozenset())
_ON = "jaxlib"
_DIALECTS = "builtin chlo func mhlo sdy shape stablehlo tensor vhlo none_such".split()  # noqa: SIM905
_OPS = (
    *("add", "and", "cholesky", "collective_permute", "convert", "convolution", "dot_general"),
    *("fft", "gather", "popcnt", "rng", "scatter", "sort", "tan", "uniform_quantize", "while"),
)
_TYPES = ("bool", "i2", "i4", "ui4", "i8", "f8E4M3FN", "bf16", "f32", "f64", "complex", "quant")
_CALLS = ("Sharding", "TopK", "lapack_spotrf_ffi", "mhlo.topk", "my_lib.erf", "")
_OPENERS = tuple(
    Opener(framework, opens, refuses, "sort of container", alone)
    for framework, (opens, refuses), alone in product(
        ("jax", "tensorflow", "torch_xla"),
        (("", ""), (">=0.5", ""), ("", "<0.5"), (">=0.9,<2.21", "<0.5")),
        (False, True),
    )
)


def of_subjects() -> Iterator[tuple[str, Callable[[], Iterator[str]]]]:
    """Yield each sample by its name."""
    for name, make in _SAMPLES.items():
        yield f"verdicts by {name}", partial(_said, make)
    for form in FORMS:
        yield f"verdicts of {form}", partial(_said, partial(_form, form))


def _said(make: Callable[[], Iterable[object]]) -> Iterator[str]:
    found = [find_release(one) for one in RELEASES]
    for what in make():
        subject, stage = what if isinstance(what, tuple) else (what, Stage.EXECUTE)
        for verdict in predict_all(subject, found, stage=stage):
            notes = [one for one in verdict.diagnostics if "executed on" not in one.message]
            diagnostics = [one.record() for one in notes]
            yield json.dumps({**verdict.record(), "diagnostics": diagnostics})


def _claims() -> Iterator[Subject]:
    for claimed, required, unknown in product(_VERSIONS, _VERSIONS, ((), ("op:vhlo.later_v1",))):
        yield replace(_EMPTY, claimed=claimed, required=required, unknown=unknown)


def _formats() -> Iterator[Subject]:
    return (replace(_EMPTY, format=number) for number in range(9))


def _needs() -> Iterator[Subject]:
    for kind, version, required in product(FeatureKind, _KNOWN, _VERSIONS):
        feature = Feature(kind, "tan_v1", version, 1, (), "it is new")
        yield replace(_EMPTY, features=(feature,), required=required)


def _form(form: str) -> Iterator[Subject]:
    return (replace(_EMPTY, forms={**_EMPTY.forms, form: occurs}) for occurs in (True, None))


def _features() -> Iterator[Subject]:
    for name in sorted(advised_features(_ON)):
        kind, colon, _ = name.partition(":")
        if colon:
            yield replace(_EMPTY, present=frozenset({name}))
            yield replace(_EMPTY, kinds=_EMPTY.kinds - {kind})


def _devices() -> Iterator[Subject]:
    for devices, provided in product((1, 2, 8), (None, 1, 2, 7, 8, 9)):
        yield replace(_EMPTY, devices=devices, provided_devices=provided)


def _signatures() -> Iterator[Subject]:
    for one in (*(f"{op} {type_}" for op, type_ in product(_OPS, _TYPES)), *_custom_calls()):
        yield replace(_EMPTY, signatures=frozenset({one}))


def _custom_calls() -> list[str]:
    return [f"custom_call {target}" for target in _CALLS]


def _doubts() -> Iterator[Subject]:
    for count in (0, 1, 19, 20, 21, 22):
        yield replace(_EMPTY, signatures=frozenset(f"unheard_{at} f32" for at in range(count)))
        yield replace(_EMPTY, signatures=frozenset(f"custom_call a.{at}" for at in range(count)))


def _four_bits() -> Iterator[Subject]:
    for form in (one for one in FORMS if "i4" in one):
        for occurs, type_ in product((True, None, False), ("i4", "ui4", "f32")):
            signatures = frozenset(f"{op} {type_}" for op in _OPS)
            forms = {**_EMPTY.forms, form: occurs}
            yield replace(_EMPTY, forms=forms, signatures=signatures)


def _stages() -> Iterator[tuple[Subject, Stage]]:
    forms = {one: None for one in FORMS if "i4" in one}
    perhaps = replace(_EMPTY, forms=forms, devices=2)
    ops = replace(_EMPTY, signatures=frozenset({"unheard f32", "custom_call a", "add f32"}))
    header = replace(_EMPTY, signatures=None)
    return product((_EMPTY, perhaps, ops, header), Stage)


def _foreign() -> Iterator[Subject]:
    for names in (*((one,) for one in _DIALECTS), *combinations(_DIALECTS, 2)):
        yield replace(_EMPTY, present=frozenset(f"dialect:{one}" for one in names))


def _removed() -> Iterator[Subject]:
    for last, refused in combinations(_KNOWN, 2):
        form = RemovedForm("rng_v1", last, refused, 1, (), "it was removed")
        yield replace(_EMPTY, removed=(form,))


def _members() -> Iterator[dict[str, Subject]]:
    """Of one Version or several of a bundle: what is well, unreadable, not opened, not known."""
    of = {
        "well": _EMPTY,
        "bad": replace(_EMPTY, unreadable="a block without operations"),
        "new": replace(_EMPTY, claimed=_LAST, required=_LAST),
        "not opened": replace(_EMPTY, opener=_OPENERS[1]),
        "refused": replace(_EMPTY, opener=_OPENERS[5]),
        "perhaps": replace(_EMPTY, unknown=("op:vhlo.later_v1",)),
    }
    for names in product(of, of):
        for members in (("", ""), ("1.0.0", "0.9.0"), ("1.0.0", "1.0.0")):
            both = zip(names, members, strict=True)
            yield {
                str(at): replace(of[name], member=member) for at, (name, member) in enumerate(both)
            }


_SAMPLES: dict[str, Callable[[], Iterable[object]]] = {
    "claim": _claims,
    "format": _formats,
    "what is needed": _needs,
    "what is present": _features,
    "devices": _devices,
    "op signature": _signatures,
    "how much is not known": _doubts,
    "integers of four bits": _four_bits,
    "stage": _stages,
    "dialects": _foreign,
    "removed forms": _removed,
    "opener": lambda: (replace(_EMPTY, opener=one) for one in _OPENERS),
    "members of a bundle": _members,
}
