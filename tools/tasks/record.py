"""Worker task: a candidate's forward pass on tensors without data, each launch written down for the target."""

from collections.abc import Generator
from types import ModuleType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

from egg.state.device import Device
from egg.tools.estimate import TorchFacts
from egg.tools.launched import Seen
from egg.tools.tasks import warm  # noqa: F401
from egg.tools.tasks.desk import Desk
from egg.tools.tasks.faults import explain
from egg.tools.tasks.module import build_model, load_module, make_inputs, set_policy
from egg.tools.tasks.spans import spanned_bytes
from egg.tools.tasks.target import Recorder

Json = dict[str, Any]
META = torch.device("meta")
FREE = {"empty", "empty_strided", "empty_like", "new_empty", "new_empty_strided", "_unsafe_view", "lift_fresh"}


def record(payload: Json) -> Generator[Json, Json, None]:
    """Launches and PyTorch operators of one forward pass; the kernels are compiled by whoever is told of them.

    Args:
        payload: `problem` and `source` (texts), `policy`, `device` (a `Device` as JSON), and whether to be `eager`.

    Yields:
        `jobs` that are new and numbers of those whose outcome is `need`ed, to be sent as `compiled` by number;
        at the end `launches` and `operators`.

    Raises:
        CandidateError: whatever the candidate raised, with the line of its source.
    """
    desk = Desk(eager=payload["eager"])
    desk.employ(lambda: _recorded(payload, desk))
    while (asked := desk.asked()) is not None:
        answer = yield asked
        if asked["need"]:
            desk.tell(answer["compiled"])
    yield desk.result()


def _recorded(payload: Json, desk: Desk) -> Json:
    recorder = Recorder(Device.model_validate(payload["device"]), desk)
    set_policy(payload["policy"])
    problem = load_module(payload["problem"], "problem")
    inputs = make_inputs(problem, 0, "meta")
    recorder.install()
    operators = Operators(recorder)
    try:
        candidate = load_module(payload["source"], "candidate")
        model = without_data(candidate.ModelNew, problem)
        with torch.no_grad(), NotCuda(), operators:
            model(*inputs)
    except Exception as error:
        raise explain(error, payload["source"]) from error
    launches = [launch.model_dump() for launch in merged(recorder.launches)]
    return {"launches": launches, "operators": [op.model_dump() for op in operators.seen]}


def merged(launches: list[Seen]) -> list[Seen]:
    """Equal launches as one, in the order of their first."""
    counts: dict[str, int] = {}
    firsts: dict[str, Seen] = {}
    for seen in launches:
        key = seen.model_dump_json(exclude={"configs"})
        firsts.setdefault(key, seen)
        counts[key] = counts.get(key, 0) + seen.calls
    return [firsts[key].model_copy(update={"calls": count}) for key, count in counts.items()]


def without_data(class_: type[torch.nn.Module], problem: ModuleType) -> torch.nn.Module:
    """The module on the meta device; constructed on the CPU first if its constructor needs real values."""
    try:
        return build_model(class_, problem, 0, "meta").to(META)
    except (RuntimeError, TypeError):
        return build_model(class_, problem, 0, "cpu").to(META)


class NotCuda(TorchFunctionMode):
    """Host code that names the GPU gets meta tensors: none is here, and none is needed to see what is launched."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func is torch.Tensor.cuda:
            return args[0]
        if _is_cuda(kwargs.get("device")):
            kwargs["device"] = META
        return func(*(META if _is_cuda(arg) else arg for arg in args), **kwargs)


def _is_cuda(value: Any) -> bool:
    return isinstance(value, (str, torch.device)) and str(value).startswith("cuda")


class Operators(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Every operator that moves or computes data; views and allocations cost nothing and are left out."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.recorder = recorder
        self.seen: list[TorchFacts] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if not self.recorder.silent and not _is_free(func):
            self.seen.append(_facts(func, args, kwargs or {}, out))
        return out


def _is_free(func: Any) -> bool:
    name = func._schema.name.split("::")[-1]
    aliases = any(r.alias_info and not r.alias_info.is_write for r in func._schema.returns)
    return aliases or name in FREE or func.namespace == "prim"


def _facts(func: Any, args: Any, kwargs: Any, out: Any) -> TorchFacts:
    tensors = [leaf for leaf in tree_leaves((args, kwargs, out)) if isinstance(leaf, torch.Tensor)]
    count = flop_registry.get(func.overloadpacket)
    floats = [t.dtype for t in tensors if t.is_floating_point()]
    return TorchFacts(
        name=func._schema.name.split("::")[-1],
        bytes=spanned_bytes(tensors),
        flops=float(count(*args, **kwargs, out_val=out)) if count else 0.0,
        dtype=str(floats[0] if floats else "int64").removeprefix("torch."),
    )
