"""Each reducing operator as steps of a row program.

`merged` chooses statistics that one reading of the row suffices for (Welford's moments, the online softmax); otherwise
each sum is taken apart, which is plainer and what a row in registers wants.
"""

from dataclasses import dataclass

from egg.tools.expert.rows.anchors import Anchor
from egg.tools.expert.rows.program import Point, Statistic, Step

INFINITE = 'float("inf")'


@dataclass(frozen=True)
class Names:
    """Variables of one anchor: its source, its results by index, and a prefix for what lies between."""

    source: str
    results: dict[int, str]
    prefix: str
    register: str
    weight: str | None = None
    bias: str | None = None
    epsilon: str = "0.0"
    correction: str = "0"
    order: float = 2

    def own(self, name: str) -> str:
        return f"{self.prefix}_{name}" if self.prefix else name

    def divide(self, value: str, by: str) -> str:
        return f"tl.div_rn({value}, {by})" if self.register == "float32" else f"{value} / {by}"

    def root(self, value: str) -> str:
        return f"tl.sqrt_rn({value})" if self.register == "float32" else f"tl.sqrt({value})"

    def exp(self, value: str) -> str:
        return f"exp_f32({value})" if self.register == "float32" else f"tl.exp({value})"

    def log(self, value: str) -> str:
        return f"log_f32({value})" if self.register == "float32" else f"tl.log({value})"


def lower(anchor: Anchor, names: Names, merged: bool) -> list[Step]:
    """The steps of one anchor, in order."""
    if anchor.kind in ("sum", "max", "min"):
        return [Statistic(anchor.kind, names.source, (names.source,), (names.results[0],))]  # type: ignore[arg-type]
    if anchor.kind == "mean":
        total = names.own("sum")
        mean = names.divide(total, "cols + 0.0")
        return [_sum(names.source, (names.source,), total), _point(names.results[0], mean, total)]
    if anchor.kind in ("argmax", "argmin"):
        return _places(anchor, names)
    if anchor.kind in ("var", "std", "var_mean", "std_mean"):
        return _spread(anchor, names, merged)
    if anchor.kind == "norm":
        return _norm(names)
    if anchor.kind in ("softmax", "log_softmax", "logsumexp"):
        return _softmax(anchor.kind, names, merged)
    if anchor.kind == "rms_norm":
        return _rms_norm(names)
    return _layer_norm(names, merged)


def _sum(of: str, needs: tuple[str, ...], name: str) -> Statistic:
    return Statistic("sum", of, needs, (name,))


def _point(name: str, text: str, *needs: str) -> Point:
    return Point(name, needs, (f"{name} = {text}",))


def _places(anchor: Anchor, names: Names) -> list[Step]:
    best = names.results.get(0, names.own("best"))
    place = names.results.get(1, names.own("place"))
    if len(names.results) == 1 and 0 in names.results and anchor.outputs[0] is anchor.node:
        best, place = names.own("best"), names.results[0]
    return [Statistic(anchor.kind, names.source, (names.source,), (best, place))]  # type: ignore[arg-type]


def _moments(names: Names, merged: bool, mean: str, apart: str, squares: str) -> list[Step]:
    """Mean, distance from it, and sum of squared distances: never the difference of two large sums."""
    x, total = names.source, names.own("sum")
    distance = _point(apart, f"{x} - {mean}", x, mean)
    if merged:
        return [Statistic("moments", x, (x,), (mean, squares)), distance]
    return [
        _sum(x, (x,), total),
        _point(mean, names.divide(total, "cols + 0.0"), total),
        distance,
        _sum(f"{apart} * {apart}", (apart,), squares),
    ]


def _spread(anchor: Anchor, names: Names, merged: bool) -> list[Step]:
    mean = names.results.get(1, names.own("mean"))
    steps = _moments(names, merged, mean, names.own("apart"), names.own("squares"))
    if 0 in names.results:
        below = "cols + 0.0" if names.correction == "0" else f"tl.maximum(cols - {names.correction}, 0) + 0.0"
        variance = names.divide(names.own("squares"), below)
        text = names.root(variance) if anchor.kind.startswith("std") else variance
        steps.append(_point(names.results[0], text, names.own("squares")))
    return steps


def _norm(names: Names) -> list[Step]:
    x, result, total = names.source, names.results[0], names.own("sum")
    if names.order == float("inf"):
        return [Statistic("max", f"tl.abs({x})", (x,), (result,))]
    if names.order == 1:
        return [_sum(f"tl.abs({x})", (x,), result)]
    return [_sum(f"{x} * {x}", (x,), total), _point(result, names.root(total), total)]


def _softmax(kind: str, names: Names, merged: bool) -> list[Step]:
    """The maximum is subtracted, so that exp cannot overflow."""
    x, top, total, power = names.source, names.own("top"), names.own("total"), names.own("power")
    pivot = f"tl.where(tl.abs({top}) == {INFINITE}, 0.0, {top})" if kind == "logsumexp" else top
    powers = _point(power, names.exp(f"{x} - {pivot}"), x, top)
    if merged:
        steps: list[Step] = [Statistic("softmax", x, (x,), (top, total))]
        steps += [powers] if kind == "softmax" else []
    else:
        steps = [Statistic("max", x, (x,), (top,)), powers, _sum(power, (power,), total)]
    result = names.results[0]
    if kind == "softmax":
        return [*steps, _point(result, names.divide(power, total), power, total)]
    log_total = _point(names.own("log_total"), names.log(total), total)
    if kind == "log_softmax":
        return [*steps, log_total, _point(result, f"({x} - {top}) - {log_total.name}", x, top, log_total.name)]
    return [*steps, log_total, _point(result, f"{pivot} + {log_total.name}", top, log_total.name)]


def _layer_norm(names: Names, merged: bool) -> list[Step]:
    apart, squares, scale = names.own("apart"), names.own("squares"), names.own("scale")
    steps = _moments(names, merged, names.own("mean"), apart, squares)
    variance = names.divide(squares, "cols + 0.0")
    steps.append(_point(scale, names.divide("1.0", names.root(f"{variance} + {names.epsilon}")), squares))
    return [*steps, _affine(names, f"{apart} * {scale}", apart, scale)]


def _rms_norm(names: Names) -> list[Step]:
    x, total, scale = names.source, names.own("sum"), names.own("scale")
    mean = names.divide(total, "cols + 0.0")
    return [
        _sum(f"{x} * {x}", (x,), total),
        _point(scale, names.divide("1.0", names.root(f"{mean} + {names.epsilon}")), total),
        _affine(names, f"{x} * {scale}", x, scale),
    ]


def _affine(names: Names, text: str, *needs: str) -> Point:
    if names.weight:
        text += f" * {names.weight}"
    if names.bias:
        text += f" + {names.bias}"
    return _point(names.results[0], text, *needs, *(n for n in (names.weight, names.bias) if n))
