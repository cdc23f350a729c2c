"""Puts kernel.py together. `whole_module` needs no torch and runs anywhere."""

import ast
from textwrap import indent
from typing import TYPE_CHECKING

from egg.state.settings import Policy
from egg.tools.expert.heading import headed
from egg.tools.expert.helpers import helpers_for
from egg.tools.expert.keep import Kept, keep
from egg.tools.expert.spec import KernelSpec, Skeleton
from egg.tools.parsing import parse

if TYPE_CHECKING:
    from egg.tools.expert.capture import Capture
    from egg.tools.expert.forward import Forward


def assemble(kept: Kept, spec: KernelSpec, regions: list[str], forward: "Forward", captured: "Capture") -> str:
    """The file: what it was written from, imports, the module's own definitions, kernels, ModelNew."""
    kernels = "\n\n\n".join(text.strip("\n") for text in regions)
    helpers = helpers_for(kernels).strip("\n")
    head = '"""Triton kernels for the module below; `ModelNew` takes and returns what the original does."""'
    imports = ["import torch", "import triton", "import triton.language as tl", *filter(None, [kept.imports])]
    names = dict(zip((captured.graph.names[node] for node in captured.full.inputs), kept.parameters, strict=False))
    aliases = [f"{mine} = {theirs}" for mine, theirs in names.items() if mine != theirs]
    body = [*aliases, *forward.lines, f"return {forward.returned}"]
    method = f"def forward({kept.signature}):\n" + indent("\n".join(body), "    ")
    model = _without_pass(kept.model) + "\n\n" + indent(method, "    ")
    blocks = [kept.definitions, helpers, kernels, model]
    return headed(spec, "\n\n\n".join([f"{head}\n\n" + "\n".join(imports), *filter(None, blocks)]) + "\n")


def whole_module(source: str, policy: Policy, why: str) -> Skeleton:
    """The module unchanged but for its name: nothing of it could be expressed."""
    spec = KernelSpec(policy=policy, structure="torch", regions=())
    kept = keep(source, forward=True)
    parts = [
        f'"""The module as it is, in PyTorch: {_plain(why)}"""',
        "",
        "import torch",
        *filter(None, [kept.imports]),
        "",
        *filter(None, [kept.definitions and kept.definitions + "\n\n"]),
        kept.model,
    ]
    return Skeleton(
        source=headed(spec, "\n".join(parts) + "\n"), spec=spec, torch_regions=(f"the whole module: {why}",)
    )


def _without_pass(model: str) -> str:
    """The class without a lone `pass`, since `forward` follows."""
    node = parse(model).body[0]
    assert isinstance(node, ast.ClassDef)
    return model.rstrip().removesuffix("pass").rstrip() if isinstance(node.body[-1], ast.Pass) else model


def _plain(text: str) -> str:
    return text.replace("\\", "/").replace('"', "'").splitlines()[0] if text else ""
