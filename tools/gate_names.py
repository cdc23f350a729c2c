"""What the names in a candidate's source stand for, and which of them it may not use."""

import ast
from collections import Counter

GRAPH = "a captured graph replays old addresses"
STREAM = "all work belongs on the current stream"
COMPILER = "it writes its own kernels; the candidate's are to be measured"
ONLY_TRITON = "only Triton is compiled"
INSIDE = "the inside of PyTorch and Triton is not for a kernel to use"
FILES = "reading and writing files is not allowed"
PROCESSES = "no other process or thread is needed"
POLICY = "the precision and the mode of the run are not the candidate's to change"
MEMORY = "memory is PyTorch's to manage"
NOT_PLAIN = "return plain tensors"
HOOKS = "work belongs in the forward pass"
BY_TEXT = "it looks names up, or runs code, by text; spell it out"

FORBIDDEN = {
    "torch.compile": COMPILER,
    "torch.jit": COMPILER,
    "torch._inductor": COMPILER,
    "torch._dynamo": COMPILER,
    "torch.export": COMPILER,
    "torch.cuda.jiterator": ONLY_TRITON,
    "torch.cuda._compile_kernel": ONLY_TRITON,
    "torch.ops.load_library": ONLY_TRITON,
    "torch.classes": ONLY_TRITON,
    "torch.library": INSIDE,
    "torch._C": INSIDE,
    "torch.overrides": INSIDE,
    "torch.cuda.cudart": INSIDE,
    "torch.cuda._lazy_init": INSIDE,
    "torch.autograd.profiler": INSIDE,
    "torch.profiler": INSIDE,
    "torch.builtins": INSIDE,
    "torch.compiler": INSIDE,
    "torch.fx": INSIDE,
    "torch.monitor": INSIDE,
    "torch.testing": INSIDE,
    "torch.utils": INSIDE,
    "triton.compiler": INSIDE,
    "triton.backends": INSIDE,
    "triton.testing": INSIDE,
    "triton._utils": INSIDE,
    "triton._instrumentation": INSIDE,
    "triton.knobs": INSIDE,
    "triton.runtime.jit": INSIDE,
    "triton.runtime.cache": INSIDE,
    "triton.runtime.build": INSIDE,
    "triton.runtime.interpreter": INSIDE,
    "triton.runtime.autotuner.Autotuner": INSIDE,
    "operator.attrgetter": BY_TEXT,
    "operator.methodcaller": BY_TEXT,
    "typing.get_type_hints": BY_TEXT,
    "typing.ForwardRef": BY_TEXT,
    "typing_extensions.get_type_hints": BY_TEXT,
    "typing_extensions.evaluate_forward_ref": BY_TEXT,
    "functools.singledispatch": BY_TEXT,
    "functools.singledispatchmethod": BY_TEXT,
    "torch.load": FILES,
    "torch.save": FILES,
    "torch.from_file": FILES,
    "torch.UntypedStorage.from_file": FILES,
    "torch.storage": FILES,
    "torch.hub": FILES,
    "torch.package": FILES,
    "torch.serialization": FILES,
    "torch.cuda.Stream": STREAM,
    "torch.cuda.ExternalStream": STREAM,
    "torch.cuda.stream": STREAM,
    "torch.cuda.set_stream": STREAM,
    "torch.cuda.StreamContext": STREAM,
    "torch.Stream": STREAM,
    "torch.cuda.CUDAGraph": GRAPH,
    "torch.cuda.graph": GRAPH,
    "torch.cuda.graphs": GRAPH,
    "torch.cuda.make_graphed_callables": GRAPH,
    "torch.cuda.graph_pool_handle": GRAPH,
    "torch.multiprocessing": PROCESSES,
    "torch.distributed": PROCESSES,
    "torch.futures": PROCESSES,
    "torch.jit.fork": PROCESSES,
    "torch.set_num_threads": PROCESSES,
    "torch.set_num_interop_threads": PROCESSES,
    "torch.set_float32_matmul_precision": POLICY,
    "torch.set_default_dtype": POLICY,
    "torch.set_default_device": POLICY,
    "torch.set_default_tensor_type": POLICY,
    "torch.use_deterministic_algorithms": POLICY,
    "torch.set_flush_denormal": POLICY,
    "torch.backends.cudnn.flags": POLICY,
    "torch.backends.cudnn.set_flags": POLICY,
    "torch.cuda.memory": MEMORY,
    "torch.cuda.set_per_process_memory_fraction": MEMORY,
    "torch.cuda.caching_allocator_alloc": MEMORY,
    "torch.cuda.caching_allocator_delete": MEMORY,
    "torch.Tensor._make_subclass": NOT_PLAIN,
    "torch.Tensor._make_wrapper_subclass": NOT_PLAIN,
}
ELSEWHERE = frozenset(
    ("sys", "os", "ctypes", "importlib", "subprocess", "threading", "builtins", "multiprocessing", "socket", "shutil")
    + ("gc", "inspect", "atexit", "pickle", "tempfile", "pathlib", "io", "mmap", "resource", "traceback")
)
"""Modules that every other module has imported, and so has as an attribute."""


def forbidden(dotted: str) -> str:
    """Why the name or one that it begins with may not be used, or an empty string."""
    parts = dotted.split(".")
    for length in range(1, len(parts) + 1):
        if reason := FORBIDDEN.get(".".join(parts[:length])):
            return reason
    if ELSEWHERE & set(parts[1:]):
        return "a kernel needs torch and triton only"
    return ""


STARS = ("triton.language", "math")
"""Modules whose names may be imported all at once: others bring along what they have imported themselves."""


class Names:
    """What imports and plain assignments of names make names stand for: `tl` -> `triton.language`."""

    def __init__(self, tree: ast.Module) -> None:
        self.stand_for: dict[str, str] = {}
        self.bound: Counter[str] = Counter()
        nodes = list(ast.walk(tree))
        self._remarks = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            self._bind(node)
        simple = [node for node in nodes if isinstance(node, ast.Assign)]
        for _ in range(3):  # an alias of an alias of an alias
            for node in simple:
                self._alias(node)

    def is_used(self, node: ast.expr) -> bool:
        """Whether it is more than a remark: a docstring is none."""
        return id(node) not in self._remarks

    def dotted(self, node: ast.expr) -> str:
        """`torch.cuda.Event` for the expression that it is, or an empty string for anything of the candidate's own."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):  # no recursion: a chain may be longer than Python's stack
            parts.append(node.attr)
            node = node.value
        root = self.stand_for.get(node.id, "") if isinstance(node, ast.Name) else ""
        return ".".join([root, *reversed(parts)]) if root else ""

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for a in node.names:
                root = a.name.split(".")[0]
                self.stand_for[a.asname or root] = a.name if a.asname else root
        elif isinstance(node, ast.ImportFrom) and node.module:
            self.stand_for |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
        elif isinstance(node, ast.arg):
            self.bound[node.arg] += 1
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            self.bound[node.name] += 1
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            self.bound[node.id] += 1

    def _alias(self, node: ast.Assign) -> None:
        if not (value := self.dotted(node.value)):
            return
        for target in node.targets:
            if isinstance(target, ast.Name) and self.bound[target.id] == 1:  # else it may be another thing elsewhere
                self.stand_for.setdefault(target.id, value)
