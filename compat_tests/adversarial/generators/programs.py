"""Programs in which many operations share a function, a string, an attribute or a value.

What is looked up through a name, or around a region, must not be walked through again for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["GROWING", "PROGRAMS", "growing"]

_T = "tensor<4xf32>"
_OPS = ("exponential", "log", "tanh", "abs", "negate")


def _function(name: str, lines: list[str], result: str, arguments: str = f"%a: {_T}") -> str:
    access = "public" if name == "main" else "private"
    body = "\n".join([*lines, f"return {result} : {_T}"])
    return f"func.func {access} @{name}({arguments}) -> {_T} {{ {body} }}"


def _large(n: int) -> list[str]:
    """Return a chain of operations, of which `%c{n - 1}` is the last."""
    before = ["%a", *(f"%c{at}" for at in range(n))]
    return [f"%c{at} = stablehlo.{_OPS[at % 5]} {before[at]} : {_T}" for at in range(n)]


def _chain(form: str, n: int) -> tuple[list[str], str]:
    """Return operations each of which takes the one before; `@` is its number, `$` its operand."""
    before = ["%a", *(f"%{at}" for at in range(n))]
    lines = [form.replace("$", before[at]).replace("@@", str(at)) for at in range(n)]
    return [f"%{at} = {line}" for at, line in enumerate(lines)], before[n]


def _of_one(form: str, n: int) -> str:
    """Return operations that name the same large function."""
    return _function("f", _large(n), f"%c{n - 1}") + _function("main", *_chain(form, n))


def _pairs(n: int) -> str:
    return ", ".join(f'k{at} = "v{at}"' for at in range(n))


def _composites(n: int) -> str:
    named = f"composite_attributes = {{ {_pairs(n)} }}, decomposition = @f, version = @@ : i32"
    return _of_one(f'stablehlo.composite "x.y@@" $ {{{named}}} : ({_T}) -> {_T}', n)


def _doubling(form: str, n: int) -> str:
    """Return functions each of which names the next one twice."""
    made = [_function(f"f{n}", [], "%a")]
    for at in range(n):
        lines, last = _chain(form.replace("@next", f"@f{at + 1}"), 2)
        made.append(_function(f"f{at}", lines, last))
    return "".join(made) + _function("main", *_chain(form.replace("@next", "@f0"), 1))


def _custom_calls(said: str, n: int) -> str:
    form = f"stablehlo.custom_call @t@@($) {{has_side_effect = true, {said}}} : ({_T}) -> {_T}"
    return _function("main", *_chain(form, n))


def _texts(n: int) -> str:
    return _custom_calls(f'backend_config = "{"x" * 20 * n}"', n)


def _dictionaries(n: int) -> str:
    return _custom_calls(f"api_version = 4 : i32, backend_config = {{ {_pairs(n)} }}", n)


def _called(n: int) -> str:
    said = f"has_side_effect = true, called_computations = [{', '.join(['@f'] * n)}]"
    return _of_one(f"stablehlo.custom_call @t($) {{{said}}} : ({_T}) -> {_T}", n)


def _branches(n: int) -> str:
    one = f"{{ %x = func.call @f(%a) : ({_T}) -> {_T}\nstablehlo.return %x : {_T} }}"
    case = f'%r = "stablehlo.case"(%p) ({", ".join([one] * n)}) : (tensor<i32>) -> {_T}'
    main = _function("main", [case], "%r", f"%p: tensor<i32>, %a: {_T}")
    return _function("f", _large(n), f"%c{n - 1}") + main


def _captured(n: int) -> str:
    cases = [
        f'%r{at} = "stablehlo.case"(%p) ({{ stablehlo.return %c{at} : {_T} }}, '
        f"{{ %x = stablehlo.add %c{at}, %c{n - 1} : {_T}\nstablehlo.return %x : {_T} }}) "
        f": (tensor<i32>) -> {_T}"
        for at in range(n)
    ]
    return _function("main", [*_large(n), *cases], f"%r{n - 1}", f"%p: tensor<i32>, %a: {_T}")


def _loop(n: int) -> str:
    kinds, names = ", ".join(["tensor<i1>", *[_T] * n]), [f"%x{at}" for at in range(n)]
    begins = ", ".join(["%q = %p", *(f"{name} = %a" for name in names)])
    turned = ", ".join(["%q", *names[1:], names[0]])
    loop = (
        f"%r:{n + 1} = stablehlo.while({begins}) : {kinds} cond {{ stablehlo.return %q : "
        f"tensor<i1> }} do {{ stablehlo.return {turned} : {kinds} }}"
    )
    return _function("main", [loop], "%r#1", f"%p: tensor<i1>, %a: {_T}")


def _sorts(n: int) -> str:
    body = (
        "({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %z = stablehlo.compare LT, %x, %y : "
        "(tensor<f32>, tensor<f32>) -> tensor<i1>\nstablehlo.return %z : tensor<i1> })"
    )
    return _function(
        "main", *_chain(f'"stablehlo.sort"($) {body} {{dimension = 0 : i64}} : ({_T}) -> {_T}', n)
    )


_CALL, _COMPOSITE = (
    f"func.call @next($) : ({_T}) -> {_T}",
    f'stablehlo.composite "x.y" $ {{decomposition = @next}} : ({_T}) -> {_T}',
)

PROGRAMS: dict[str, Callable[[int], str]] = {
    "calls": lambda n: _of_one(_CALL.replace("@next", "@f"), n),
    "composites": _composites,
    "calls-twice": lambda n: _doubling(_CALL, n),
    "composites-twice": lambda n: _doubling(_COMPOSITE, n),
    "texts": _texts,
    "dictionaries": _dictionaries,
    "called-computations": _called,
    "branches": _branches,
    "captured": _captured,
    "loop": _loop,
    "sorts": _sorts,
}
"""Texts of programs of so many operations."""

_GROWN: dict[str, tuple[str, ...]] = {
    "i32": ("add", "subtract", "multiply", "maximum", "power", "shift_left", "xor", "remainder"),
    "ui64": ("add", "multiply", "or", "power", "shift_left", "divide"),
    "f32": ("add", "subtract", "multiply", "power", "maximum", "divide", "atan2", "remainder"),
    "f64": ("add", "multiply", "power"),
    "complex<f32>": ("add", "multiply", "power", "divide"),
}
_TAKING = ("cosine", "sine", "cbrt", "tan", "log", "sqrt", "rsqrt", "exponential", "floor", "abs")
GROWING = tuple(_GROWN)
"""Element types of `growing`."""


def growing(element: str, n: int) -> str:
    """Return chains of each op, in which each takes the one before twice.

    An estimate of the numbers may double in digits with each. At the end of each chain is all that
    has forms for some numbers only.

    Args:
        element: One of `GROWING`.
        n: How many ops each chain has.
    """
    kind, real, flag = (f"tensor<1000x{one}>" for one in (element, "f32", "i1"))
    lines, starts = [], ["%a"]
    if not element.startswith("c"):
        starts += [f"%iota{element}", f"%large{element}"]
        whole = "i" in element
        large = "2147483647" if whole else "3.0e38"
        lines += [
            f"{starts[1]} = stablehlo.iota dim = 0 : {kind}",
            f"{starts[2]} = stablehlo.constant dense<{large}> : {kind}",
        ]
    ends, results = [], []
    for start in starts:
        for op in _GROWN[element]:
            last = start
            for at in range(n):
                name = f"{start}_{op}_{at}"
                lines.append(f"{name} = stablehlo.{op} {last}, {last} : {kind}")
                last = name
            ends.append(last)
    for at, end in enumerate(ends):
        if element.startswith("c"):
            lines.append(f"%f{at} = stablehlo.real {end} : ({kind}) -> {real}")
        else:
            lines.append(f"%f{at} = stablehlo.convert {end} : ({kind}) -> {real}")
        lines.append(f"%half{at} = stablehlo.constant dense<0.5> : {real}")
        lines.append(f"%m{at} = stablehlo.multiply %f{at}, %half{at} : {real}")
        lines += [f"%t{at}{op} = stablehlo.{op} %m{at} : {real}" for op in _TAKING]
        # What nothing returns is not written.
        results += [*((f"%t{at}{op}", real) for op in _TAKING), (f"%at{at}", real)]
        results.append((f"%c{at}", flag))
        lines.append(f"%at{at} = stablehlo.atan2 %m{at}, %f{at} : {real}")
        asked = f"({real}, {real}) -> {flag}"
        lines.append(f"%c{at} = stablehlo.compare LT, %m{at}, %f{at} : {asked}")
    names, types = (", ".join(each) for each in zip(*results, strict=True))
    body = "\n".join([*lines, f"return {names} : {types}"])
    return f"func.func @main(%a: {kind}) -> ({types}) {{ {body} }}"
