"""For child tasks: a problem or candidate source as a module, its inputs and its model, the same way everywhere."""

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.utils._pytree import tree_map

from egg.state.settings import Policy


def load_module(source: str, name: str) -> ModuleType:
    """Write `source` to `<name>.py` in the working folder and execute it (Triton reads a kernel's lines from a file).

    Raises:
        Whatever the source raises.
    """
    path = Path(f"{name}.py").absolute()
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def load_inputs(payload: dict[str, Any]) -> ModuleType:
    """The `problem` without its modules: what makes the inputs and the constructor's arguments, and no more.

    Where the inputs are made with one of those modules it is the whole problem.
    """
    tree = ast.parse(payload["problem"])
    modules: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any(_is_module(base, modules) for base in node.bases):
            modules.add(node.name)
    tree.body = [node for node in tree.body if not (isinstance(node, ast.ClassDef) and node.name in modules)]
    try:
        module = load_module(ast.unparse(tree), "inputs")
        init_inputs(module)
        make_inputs(module, 0, "meta")
        return module
    except NameError:
        return load_module(payload["problem"], "inputs")
    except Exception:  # not on this device, or too large for it: whoever makes the inputs says so
        return module


def _is_module(base: ast.expr, known: set[str]) -> bool:
    name = ast.unparse(base).split(".")[-1]
    return name in known or name in ("Module", "Sequential", "ModuleList")


def set_policy(policy: Policy | str) -> None:
    """PyTorch's TF32 switches. `stock` restores PyTorch's own: off for matrix products, on for convolutions."""
    policy = Policy(policy)
    torch.backends.cuda.matmul.allow_tf32 = policy is Policy.TF32
    torch.backends.cudnn.allow_tf32 = policy is not Policy.IEEE


def set_seed(seed: int, device: str) -> None:
    """Seed the generators in use. Without CUDA, `torch.manual_seed` spends a millisecond on remembering who asked."""
    if device == "cuda":
        torch.manual_seed(seed)
    else:
        torch.default_generator.manual_seed(seed)


def make_inputs(module: ModuleType, seed: int, device: str) -> list[Any]:
    """What the problem's `get_inputs` gives for a seed, on `device`; created there where it can be."""
    set_seed(seed, device)
    try:
        with torch.device(device):
            inputs = module.get_inputs()
    except (RuntimeError, TypeError):  # for instance a generator of its own, which lives on the CPU
        if device == "cpu":
            raise
        set_seed(seed, device)
        inputs = module.get_inputs()
    if not isinstance(inputs, list | tuple):
        raise TypeError(f"get_inputs must return a list of the forward pass's arguments, not a {type(inputs).__name__}")
    return list(to_device(inputs, device))


def init_inputs(module: ModuleType) -> tuple[list[Any], dict[str, Any]]:
    """Arguments of the model's constructor: a list, or a dict of keywords, or both as KernelBench has them."""
    given = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
    if isinstance(given, dict):
        return [], given
    if len(given) == 2 and isinstance(given[0], list) and isinstance(given[1], dict):
        return given[0], given[1]
    return list(given), {}


def build_model(cls: type[torch.nn.Module], module: ModuleType, seed: int, device: str) -> torch.nn.Module:
    """An instance with the weights that the seed gives. In training mode, as constructed; never `eval()`.

    Weights are drawn on the CPU, so that two classes that create the same parameters in the same order agree.
    """
    if device == "meta":
        with torch.device("meta"):
            args, keywords = init_inputs(module)
            return cls(*args, **keywords)
    set_seed(seed, device)
    args, keywords = init_inputs(module)
    args, keywords = to_device(args, device), to_device(keywords, device)
    set_seed(seed, device)
    model = cls(*args, **keywords)
    return model if device == "cpu" else model.to(device)  # a fake model cannot be moved, not even to where it is


def share_weights(target: torch.nn.Module, theirs: dict[str, torch.Tensor]) -> bool:
    """Load parameters and buffers if the target's have the same names and shapes; whether they had."""
    ours = target.state_dict()
    if {k: v.shape for k, v in theirs.items()} != {k: v.shape for k, v in ours.items()}:
        return False
    target.load_state_dict(theirs)
    return True


def to_device(values: Any, device: str) -> Any:
    """Every tensor in a nest of lists, tuples and dicts, moved."""
    return tree_map(lambda value: value.to(device) if isinstance(value, torch.Tensor) else value, values)
