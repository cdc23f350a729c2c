"""Run in a child: a problem file becomes an ATen graph, on fake tensors, so that nothing of full size is allocated."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import GraphModule, Node

from egg.tools.expert.algebra import collapse
from egg.tools.expert.cleanup import clean, fold_numbers
from egg.tools.tasks.module import init_inputs, load_module


class Inexpressible(Exception):
    """This module cannot be read as one graph; it stays PyTorch as a whole. The message says why."""


@dataclass
class Trace:
    """One trace: what was called, on what, and where each input comes from."""

    module: torch.nn.Module
    graph_module: GraphModule
    calls: list[Node]
    inputs: list[Node]
    """The user's tensors, in the order of `forward`'s parameters."""
    origins: dict[Node, str]
    """Parameters, buffers and tensor attributes: where in the module they are."""
    constants: dict[Node, torch.Tensor] = field(default_factory=dict)
    """Tensors made from Python numbers in `forward`."""
    results: list[Any] = field(default_factory=list)
    out_spec: Any = None


def trace(source: str, name: str, *, collapsed: bool = False) -> Trace:
    """Trace the file's `Model` on its own inputs; `collapsed` rewrites it (see `algebra`). Raises Inexpressible."""
    module = load_module(source, name)
    try:
        with torch.no_grad(), FakeTensorMode(allow_non_fake_inputs=True):
            positional, named = init_inputs(module)
            model = module.Model(*positional, **named)
            inputs = module.get_inputs()
            if not all(value is None or isinstance(value, torch.Tensor | int | float | bool) for value in inputs):
                raise Inexpressible("forward takes nested inputs")
            program = torch.export.export(model, tuple(inputs))
    except Inexpressible:
        raise
    except Exception as error:  # any user code, any exporter failure: the answer is the same
        raise Inexpressible(f"torch.export cannot trace it: {type(error).__name__}: {str(error)[:200]}") from error
    return _read(model, program, collapsed)


def _read(model: torch.nn.Module, program: Any, collapsed: bool) -> Trace:
    graph_module: GraphModule = program.graph_module
    placeholders = {node.name: node for node in graph_module.graph.nodes if node.op == "placeholder"}
    found = Trace(model, graph_module, [], [], {})
    for spec in program.graph_signature.input_specs:
        node = placeholders[spec.arg.name]
        kind = spec.kind.name
        if kind == "USER_INPUT":
            found.inputs.append(node)
        elif kind in ("PARAMETER", "BUFFER") or _attribute(model, spec.target) is not None:
            found.origins[node] = spec.target
        elif kind == "CONSTANT_TENSOR":
            found.constants[node] = program.constants[spec.target]
        else:
            raise Inexpressible(f"an input of kind {kind}")
    fold_numbers(found.constants)
    clean(graph_module.graph)
    if collapsed:
        collapse(graph_module.graph)
    graph_module.graph.lint()
    found.calls = [node for node in graph_module.graph.nodes if node.op == "call_function"]
    if any(node.op not in ("placeholder", "call_function", "output") for node in graph_module.graph.nodes):
        raise Inexpressible("the graph holds other graphs")
    found.results = list(next(node for node in graph_module.graph.nodes if node.op == "output").args[0])
    specs = program.graph_signature.output_specs
    found.results = [r for r, spec in zip(found.results, specs, strict=True) if spec.kind.name == "USER_OUTPUT"]
    found.out_spec = program.call_spec.out_spec
    return found


def _attribute(model: torch.nn.Module, path: str) -> Any:
    value: Any = model
    for part in path.split("."):
        value = getattr(value, part, None)
    return value
