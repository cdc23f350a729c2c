"""Problems that reduce rows, each a one-line forward: sizes that are prime, ragged, one, or beyond a block."""

from egg.state.problem import Problem
from tests.tools.expert.problems import problem

INPUTS = {"x": "torch.randn(A, B)", "y": "torch.randn(A, B)", "b": "torch.randn(B)"}
PLANES = {"x": "torch.randn(A, B, C)"}
IMAGES = {"x": "torch.randn(A, B, C, D)"}


def rows(forward: str, inputs: dict[str, str] | str, init: str = "pass", full: str = "", small: str = "") -> Problem:
    """`inputs` names the arguments, or says which of INPUTS are used."""
    given = {name: INPUTS[name] for name in inputs.split()} if isinstance(inputs, str) else inputs
    body = f"""class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, {", ".join(given)}):
        {forward}


def get_inputs():
    return [{", ".join(given.values())}]


def get_init_inputs():
    return []
"""
    sizes = {2: ("A = 4096\nB = 2048", "A = 5\nB = 37"), 3: ("A = 64\nB = 512\nC = 1023", "A = 3\nB = 37\nC = 19")}
    sizes[4] = ("A = 32\nB = 64\nC = 128\nD = 128", "A = 2\nB = 12\nC = 5\nD = 7")
    rank = 4 if given == IMAGES else 3 if given == PLANES else 2
    return problem(body, full or sizes[rank][0], small or sizes[rank][1])


LONG = {"full": "A = 8\nB = 1048576", "small": "A = 2\nB = 9973"}
LAYER = "self.norm = nn.LayerNorm(B)"
WEIGHT = "self.w = nn.Parameter(torch.rand(B) + 0.5)"
HALF = {"x": "torch.randn(A, B, dtype=torch.float16)"}
BFLOAT = {"x": "torch.randn(A, B, dtype=torch.bfloat16)"}
DOUBLE = {"x": "torch.randn(A, B, dtype=torch.float64)"}
CENTRED = "(x - x.mean((0, 2, 3), keepdim=True))"
SPREAD = "torch.sqrt(x.var((0, 2, 3), keepdim=True, unbiased=False) + 1e-5)"

PROBLEMS: dict[str, Problem] = {
    "sum": rows("return torch.sum((x - y) ** 2, dim=1)", "x y"),
    "sum_middle": rows("return x.sum(1, keepdim=True)", PLANES),
    "sum_first": rows("return x.sum(0)", "x", full="A = 1048576\nB = 64", small="A = 4099\nB = 7"),
    "sum_all": rows("return x.sum()", "x"),
    "mean_apart": rows("return x.mean((1, 3))", IMAGES),
    "mean_edges": rows("return x.mean((0, 2))", PLANES),
    "amax_long": rows("return x.amax(1)", "x", **LONG),
    "max_places": rows("best, place = torch.max(x, dim=1); return best, place", PLANES),
    "argmin": rows("return torch.argmin(x, dim=1)", "x"),
    "min_with_nan": rows("return torch.amin(torch.log(x), dim=1)", "x"),
    "std": rows("return x.std(1)", "x"),
    "softmax": rows("return torch.relu(torch.softmax(x * 2, dim=-1) - 0.01) * b", "x b"),
    "softmax_middle": rows("return torch.softmax(x, dim=1)", PLANES),
    "softmax_long": rows("return torch.softmax(x, dim=-1)", "x", **LONG),
    "softmax_half": rows("return torch.softmax(x, dim=-1)", HALF),
    "log_softmax": rows("return F.log_softmax(x / 0.7, dim=-1)", "x"),
    "logsumexp": rows("return torch.logsumexp(x, dim=1)", PLANES),
    "layer_norm": rows("return F.gelu(self.norm(x))", "x", LAYER),
    "layer_norm_double": rows("return F.layer_norm(x, (x.shape[-1],))", DOUBLE),
    "layer_norm_planes": rows("return self.norm(x)", PLANES, "self.norm = nn.LayerNorm((B, C))"),
    "bias_residual_layer_norm": rows("y = y + x + self.w; return self.norm(y), y", "x y", f"{LAYER}; {WEIGHT}"),
    "rms_norm": rows("return self.norm(x)", "x", "self.norm = nn.RMSNorm(B, eps=1e-6)"),
    "rms_norm_spelled": rows("return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.w", "x", WEIGHT),
    "rms_norm_features": rows("return x / torch.sqrt(torch.mean(x**2, dim=1, keepdim=True) + 1e-5)", IMAGES),
    "rms_norm_bfloat": rows(
        "w = x.float(); return (w * torch.rsqrt(w.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)", BFLOAT
    ),
    "group_norm": rows("return torch.relu(self.norm(x) + x)", IMAGES, "self.norm = nn.GroupNorm(4, B)"),
    "instance_norm": rows("return self.norm(x) * 2", IMAGES, "self.norm = nn.InstanceNorm2d(B, affine=True)"),
    "batch_statistics": rows(f"return {CENTRED} / {SPREAD}", IMAGES),
    "normalize": rows("return F.normalize(x, p=2, dim=1)", "x"),
    "frobenius": rows("return x / torch.norm(x, p='fro')", PLANES),
    "softmax_spelled": rows("e = torch.exp(x - x.amax(-1, keepdim=True)); return e / e.sum(-1, keepdim=True)", "x"),
    "mean_put_back": rows("return x - x.mean(1).unsqueeze(1)", PLANES),
    "standard_score": rows("return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6)", "x"),
    "single_row": rows("return torch.softmax(x, dim=-1)", "x", full="A = 1\nB = 2", small="A = 1\nB = 2"),
}
