"""Pointwise ATen operators as Triton expressions on values in registers.

Registers hold float32 for half, bfloat16 and float32 tensors, float64 for float64, integers and booleans as they are.
"""

import math
from collections.abc import Callable
from typing import Any

from egg.tools.expert.unify import literal

REGISTER = {
    "float16": "float32",
    "bfloat16": "float32",
    "float32": "float32",
    "float64": "float64",
    "bool": "int1",
    "uint8": "int32",
    "int8": "int32",
    "int16": "int32",
    "int32": "int32",
    "int64": "int64",
}
"""Type of a value in registers, by the tensor's type."""

STORAGE = {"bool": "int1", **{name: name for name in REGISTER if name != "bool"}}
"""Triton's name for a tensor's element type."""

FLOATS = ("float32", "float64")

Operands = list[str]
Rule = Callable[[Operands, dict[str, Any], str], str | None]
"""(operands in registers, other arguments, register type) -> expression, or None where it cannot be written."""


def division(a: str, b: str, register: str) -> str:
    """Correctly rounded; by a power of two it is a product."""
    try:
        divisor = float(b)
    except ValueError:
        divisor = 0.0
    if divisor and math.isfinite(divisor) and abs(math.frexp(divisor)[0]) == 0.5:
        return f"{a} * {1.0 / divisor!r}"
    return f"tl.div_rn({block(a)}, {block(b)})" if register == "float32" else f"{a} / {b}"


def block(operand: str) -> str:
    """A tensor where Triton wants one, not a Python number."""
    try:
        float(operand)
    except ValueError:
        return operand
    return f"tl.full((), {operand}, tl.float32)"


def _unary(text: str, *, double: str | None = None) -> Rule:
    """A template in `x`; another one for float64, or none."""

    def rule(operands: Operands, _: dict[str, Any], register: str) -> str | None:
        if register == "float32":
            return text.format(x=operands[0])
        return double.format(x=operands[0]) if double and register == "float64" else None

    return rule


def _binary(text: str) -> Rule:
    return lambda operands, _, __: text.format(a=operands[0], b=operands[1])


def _scaled(sign: str, *, reverse: bool = False) -> Rule:
    """add, sub and rsub with their `alpha`."""

    def rule(operands: Operands, extra: dict[str, Any], _: str) -> str:
        a, b = operands if not reverse else operands[::-1]
        alpha = extra.get("alpha", "1")
        if alpha in ("1", "1.0"):
            return f"{a} {sign} {b}"
        return f"{a} {sign} {alpha} * {b}" if not reverse else f"{a} - {alpha} * {b}"

    return rule


def _divide(operands: Operands, extra: dict[str, Any], register: str) -> str | None:
    return division(operands[0], operands[1], register) if extra.get("rounding_mode") in (None, "None") else None


def _power(operands: Operands, _: dict[str, Any], register: str) -> str | None:
    """Only the exponents that need neither exp nor log."""
    x, exponent = operands
    root = f"tl.sqrt_rn({x})"
    try:
        power = float(exponent)
    except ValueError:
        return None
    if register == "int1":
        return None
    if power in (2.0, 3.0, 4.0):
        return {2.0: f"{x} * {x}", 3.0: f"{x} * {x} * {x}", 4.0: f"({x} * {x}) * ({x} * {x})"}[power]
    if register != "float32":
        return None
    known = {
        0.5: root,
        1.0: x,
        1.5: f"{x} * {root}",
        -0.5: division("1.0", root, register),
        -1.0: division("1.0", x, register),
        -2.0: division("1.0", f"({x} * {x})", register),
    }
    return known.get(power)


def _clamp(operands: Operands, extra: dict[str, Any], _: str) -> str | None:
    low, high = extra.get("min"), extra.get("max")
    text = operands[0]
    if low not in (None, "None"):
        text = f"tl.where({text} < {low}, {low}, {text})"
    if high not in (None, "None"):
        text = f"tl.where({text} > {high}, {high}, {text})"
    return text


def _gelu(operands: Operands, extra: dict[str, Any], register: str) -> str | None:
    if register != "float32":
        return None
    return f"gelu_tanh_f32({operands[0]})" if "tanh" in str(extra.get("approximate")) else f"gelu_f32({operands[0]})"


def _elu(operands: Operands, extra: dict[str, Any], register: str) -> str | None:
    if register != "float32":
        return None
    x, alpha, scale, inner = operands[0], *(extra.get(name, "1") for name in ("alpha", "scale", "input_scale"))
    return f"tl.where({x} > 0.0, {x} * {scale}, expm1_f32({x} * {inner}) * ({alpha} * {scale}))"


def _softplus(operands: Operands, extra: dict[str, Any], register: str) -> str | None:
    x, beta, limit = operands[0], extra.get("beta", "1"), extra.get("threshold", "20")
    if register != "float32":
        return None
    if float(beta) == 1.0:
        return f"tl.where({x} > {limit}, {x}, softplus_f32({x}))"
    return f"tl.where({x} * {beta} > {limit}, {x}, {division(f'softplus_f32({x} * {beta})', beta, register)})"


def _where(operands: Operands, _: dict[str, Any], __: str) -> str:
    return f"tl.where({operands[0]}, {operands[1]}, {operands[2]})"


def _fill(operands: Operands, _: dict[str, Any], __: str) -> str:
    return f"tl.where({operands[1]}, {operands[2]}, {operands[0]})"


def _leaky(operands: Operands, extra: dict[str, Any], _: str) -> str:
    return f"tl.where({operands[0]} > 0, {operands[0]}, {operands[0]} * {extra.get('negative_slope', literal(0.01))})"


def _hardtanh(operands: Operands, extra: dict[str, Any], register: str) -> str | None:
    return _clamp(operands, {"min": extra["min_val"], "max": extra["max_val"]}, register)


def _negate(operands: Operands, _: dict[str, Any], __: str) -> str:
    return f"-{operands[0]}"


RELU6 = "tl.where({x} + 3.0 < 0.0, 0.0, tl.where({x} + 3.0 > 6.0, 6.0, {x} + 3.0))"
NAN_MIN = "tl.minimum({a}, {b}, propagate_nan=tl.PropagateNan.ALL)"
NAN_MAX = "tl.maximum({a}, {b}, propagate_nan=tl.PropagateNan.ALL)"

RULES: dict[str, Rule] = {
    "add": _scaled("+"),
    "sub": _scaled("-"),
    "rsub": _scaled("-", reverse=True),
    "mul": _binary("{a} * {b}"),
    "div": _divide,
    "true_divide": _divide,
    "pow": _power,
    "maximum": _binary(NAN_MAX),
    "minimum": _binary(NAN_MIN),
    "where": _where,
    "masked_fill": _fill,
    "eq": _binary("{a} == {b}"),
    "ne": _binary("{a} != {b}"),
    "lt": _binary("{a} < {b}"),
    "le": _binary("{a} <= {b}"),
    "gt": _binary("{a} > {b}"),
    "ge": _binary("{a} >= {b}"),
    "logical_and": _binary("{a} & {b}"),
    "logical_or": _binary("{a} | {b}"),
    "logical_not": lambda operands, _, __: f"{operands[0]} == 0",
    "__and__": _binary("{a} & {b}"),
    "bitwise_and": _binary("{a} & {b}"),
    "__or__": _binary("{a} | {b}"),
    "bitwise_or": _binary("{a} | {b}"),
    "__xor__": _binary("{a} ^ {b}"),
    "bitwise_xor": _binary("{a} ^ {b}"),
    "bitwise_not": lambda operands, _, register: f"{operands[0]} == 0" if register == "int1" else f"~{operands[0]}",
    "neg": _negate,
    "abs": lambda operands, _, __: f"tl.abs({operands[0]})",
    "square": lambda operands, _, __: f"{operands[0]} * {operands[0]}",
    "relu": lambda operands, _, __: f"tl.where({operands[0]} < 0, 0, {operands[0]})",
    "leaky_relu": _leaky,
    "clamp": _clamp,
    "clamp_min": _clamp,
    "clamp_max": _clamp,
    "hardtanh": _hardtanh,
    "relu6": _unary("tl.where({x} < 0.0, 0.0, tl.where({x} > 6.0, 6.0, {x}))"),
    "hardsigmoid": _unary(f"{RELU6} * 0.16666666666666666"),
    "hardswish": _unary(f"{{x}} * {RELU6} * 0.16666666666666666"),
    "gelu": _gelu,
    "elu": _elu,
    "celu": lambda operands, extra, register: _elu(operands, extra, register) if extra["alpha"] == "1.0" else None,
    "selu": _unary("tl.where({x} > 0.0, {x} * 1.0507009873554805, expm1_f32({x}) * 1.7580993408473766)"),
    "silu": _unary("tl.div_rn({x}, 1.0 + exp_f32(-{x}))"),
    "mish": _unary("{x} * tanh_f32(softplus_f32({x}))"),
    "softplus": _softplus,
    "log_sigmoid": _unary("-softplus_f32(-{x})"),
    "sigmoid": _unary("sigmoid_f32({x})", double="1.0 / (1.0 + tl.exp(-{x}))"),
    "tanh": _unary("tanh_f32({x})"),
    "exp": _unary("exp_f32({x})", double="tl.exp({x})"),
    "expm1": _unary("expm1_f32({x})"),
    "log": _unary("log_f32({x})", double="tl.log({x})"),
    "log1p": _unary("log1p_f32({x})"),
    "log2": _unary("log_f32({x}) * 1.4426950408889634"),
    "sqrt": _unary("tl.sqrt_rn({x})", double="tl.sqrt({x})"),
    "rsqrt": _unary("tl.div_rn(tl.full((), 1.0, tl.float32), tl.sqrt_rn({x}))", double="1.0 / tl.sqrt({x})"),
    "reciprocal": _unary("tl.div_rn(tl.full((), 1.0, tl.float32), {x})", double="1.0 / {x}"),
    "sin": _unary("tl.sin({x})", double="tl.sin({x})"),
    "cos": _unary("tl.cos({x})", double="tl.cos({x})"),
    "erf": _unary("tl.erf({x})", double="tl.erf({x})"),
    "floor": _unary("tl.floor({x})", double="tl.floor({x})"),
    "ceil": _unary("tl.ceil({x})", double="tl.ceil({x})"),
    "sign": lambda operands, _, __: f"tl.where({operands[0]} > 0, 1, tl.where({operands[0]} < 0, -1, {operands[0]}))",
    "addcmul": lambda operands, extra, _: f"{operands[0]} + {extra.get('value', '1')} * {operands[1]} * {operands[2]}",
    "lerp": lambda operands, _, __: f"{operands[0]} + {operands[2]} * ({operands[1]} - {operands[0]})",
}
"""By ATen name without the overload."""

SAME = ("clone", "contiguous", "to", "_to_copy", "type_as", "expand", "expand_as", "detach", "alias")
"""Operators that change at most the type, or repeat along an axis: nothing to compute."""

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
LOGICAL = ("logical_and", "logical_or", "logical_not")

OPERANDS = ("self", "other", "condition", "mask", "value", "exponent", "tensor1", "tensor2", "end", "weight", "input")
"""Positional ATen arguments that are operands, tensors or numbers; all others are options."""

RULES |= {name: lambda operands, _, __: operands[0] for name in SAME}
