"""Small Triton device functions that emitted kernels call; `helpers_for` finds the ones a source needs.

They exist because Triton's own fp32 `exp` and `log` are fast approximations whose error grows with the argument,
and because libdevice cannot run in the interpreter.
"""

import re

EXP = '''
@triton.jit
def exp_f32(x):
    """exp to about one unit in the last place: x = n ln 2 + r, |r| < 0.35."""
    x = tl.where(x > 90.0, 90.0, tl.where(x < -110.0, -110.0, x))
    n = tl.floor(x * 1.4426950408889634 + 0.5)
    r = tl.fma(n, -1.42860677e-6, tl.fma(n, -0.693145751953125, x))
    half = tl.floor(n * 0.5)
    return tl.exp(r) * tl.exp2(half) * tl.exp2(n - half)
'''

LOG = '''
@triton.jit
def log_f32(x):
    """log to about one unit in the last place: x = 2^e (1 + f), sqrt(1/2) < 1 + f < sqrt(2)."""
    tiny = x < 1.17549435e-38
    bits = tl.where(tiny, x * 33554432.0, x).to(tl.int32, bitcast=True) - 0x3F3504F3
    e = (bits >> 23).to(tl.float32) - tl.where(tiny, 25.0, 0.0)
    f = ((bits & 0x007FFFFF) + 0x3F3504F3).to(tl.float32, bitcast=True) - 1.0
    s = tl.div_rn(f, 2.0 + f)
    z = s * s
    w = z * z
    poly = z * (0.66666662693 + w * 0.28498786688) + w * (0.40000972152 + w * 0.24279078841)
    half = 0.5 * f * f
    y = e * 0.693138123 - ((half - (s * (half + poly) + e * 9.05800061e-6)) - f)
    y = tl.where(x == 0.0, float("-inf"), tl.where(x < 0.0, float("nan"), y))
    return tl.where((x == float("inf")) | (x != x), x, y)
'''

LOG1P = '''
@triton.jit
def log1p_f32(x):
    """log(1 + x) for x > -1, with the digits that 1 + x loses put back."""
    u = 1.0 + x
    correction = tl.where(u == 1.0, x, tl.div_rn(x - (u - 1.0), u))
    y = tl.where(u == 1.0, x, log_f32(u) + correction)
    return tl.where(u == float("inf"), u, y)
'''

EXPM1 = '''
@triton.jit
def expm1_f32(x):
    """exp(x) - 1 without cancellation near zero."""
    near = x * (1.0 + x * (0.5 + x * (0.166666667 + x * (0.0416666667 + x * (0.00833333333 + x * 0.00138888889)))))
    return tl.where(tl.abs(x) < 0.25, near, exp_f32(x) - 1.0)
'''

SIGMOID = """
@triton.jit
def sigmoid_f32(x):
    return tl.div_rn(tl.full(x.shape, 1.0, tl.float32), 1.0 + exp_f32(-x))
"""

TANH = '''
@triton.jit
def tanh_f32(x):
    """tanh as 1 - 2e / (1 + e), e = exp(-2|x|); a minimax polynomial (Cephes) near zero, where that would cancel."""
    a = tl.abs(x)
    e = exp_f32(-2.0 * a)
    far = 1.0 - tl.div_rn(2.0 * e, 1.0 + e)
    z = x * x
    poly = 0.133314422 + z * (-0.0537397156 + z * (0.0206390888 - z * 0.00570498873))
    near = a + a * z * (-0.333332819 + z * poly)
    return tl.where(x < 0.0, -1.0, 1.0) * tl.where(a < 0.625, near, far)
'''

GELU = """
@triton.jit
def gelu_f32(x):
    return 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
"""

GELU_TANH = """
@triton.jit
def gelu_tanh_f32(x):
    return 0.5 * x * (1.0 + tanh_f32(0.7978845608028654 * (x + 0.044715 * x * x * x)))
"""

SOFTPLUS = '''
@triton.jit
def softplus_f32(x):
    """log(1 + exp(x)), without overflow."""
    return tl.where(x > 0.0, x, 0.0) + log1p_f32(exp_f32(-tl.abs(x)))
'''

ROUND_TF32 = '''
@triton.jit
def round_tf32(x):
    """The nearest tf32: the tensor core by itself would truncate, at twice the error."""
    return ((x.to(tl.int32, bitcast=True) + 0x1000) & -0x2000).to(tl.float32, bitcast=True)
'''

HELPERS = {
    "exp_f32": EXP,
    "log_f32": LOG,
    "log1p_f32": LOG1P,
    "expm1_f32": EXPM1,
    "sigmoid_f32": SIGMOID,
    "tanh_f32": TANH,
    "gelu_f32": GELU,
    "gelu_tanh_f32": GELU_TANH,
    "softplus_f32": SOFTPLUS,
    "round_tf32": ROUND_TF32,
}
"""By name, each after those that it calls."""


def helpers_for(source: str) -> str:
    """The definitions that `source` needs and does not have, in an order that Python can read."""
    needed: set[str] = set()
    text = source
    while True:
        called = {name for name in HELPERS if re.search(rf"(?<!def )\b{name}\(", text)}
        if called <= needed:
            break
        needed |= called
        text = source + "".join(HELPERS[name] for name in needed)
    return "\n".join(HELPERS[name] for name in HELPERS if name in needed and f"def {name}(" not in source)
