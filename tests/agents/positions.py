"""Where agents stand: situations of every stage, operator class, GPU generation, bottleneck and verdict."""

from egg.agents.situation import Situation

HALF, SINGLE = ("float16",), ("float32",)
OWN = "against a budget of 4.00e-07 (the reference's own: 2.00e-07)"
WRONG = f"output [64, 100] float32: error 3.10e-01 {OWN}; 90 of 6400 elements wrong"
TAIL = f"{WRONG}; wrong only at 96..99 of dimension 1 (size 100) (the tail: is a mask missing or wrong?)"
NAN = f"{WRONG}; 12 elements are NaN or infinite: uninitialised memory, or an overflow"
SMALL = f"output [64] float32: error 2.10e-06 {OWN}"


def at(group: str, kinds: str = "", **more: object) -> Situation:
    return Situation.model_validate({"group": group, "kinds": tuple(kinds.split()), **more})


def broken(kinds: str, feedback: str = WRONG, status: str = "mismatch", **more: object) -> Situation:
    return at(str(more.pop("group", "structure")), kinds, status=status, feedback=feedback, **more)


def held(*bottlenecks: str) -> dict[str, object]:
    return {"bottlenecks": bottlenecks}


POSITIONS = {
    "fp32 product, H200": at("structure", "gemm"),
    "fp32 product, A100": at("structure", "gemm", target="sm_80"),
    "TF32 product": at("structure", "gemm pointwise", policy="tf32"),
    "bf16 product, B200": at("structure", "gemm", target="sm_100", dtypes=("bfloat16",)),
    "product bound by launches": at("structure", "gemm pointwise", **held("launch_bound")),
    "gated products, bound by memory": at("structure", "gemm", dtypes=HALF, **held("memory_bandwidth")),
    "few products for many multiprocessors": at("structure", "gemm thin_product", **held("too_few_programs")),
    "batched products": at("structure", "batched gemm", dtypes=HALF),
    "int8 product": at("structure", "int8", dtypes=("int8", "float32")),
    "int4 weights": at("structure", "gemm", dtypes=("int8", "float16")),
    "row norm": at("structure", "normalisation gelu"),
    "row norm, bf16": at("structure", "normalisation", dtypes=("bfloat16",)),
    "long softmax": at("structure", "softmax"),
    "sum": at("structure", "reduction"),
    "attention": at("structure", "attention"),
    "attention in halves, A100": at("structure", "attention", target="sm_80", dtypes=HALF),
    "decoding attention": at("structure", "attention", target="sm_80", dtypes=HALF, **held("too_few_programs")),
    "convolution, stock": at("structure", "conv batch_norm torch", target="sm_89"),
    "convolution, ieee": at("structure", "conv exact_conv torch", policy="ieee"),
    "transposed convolution": at("structure", "conv conv_transposed torch", target="sm_80"),
    "depthwise convolution": at("structure", "conv depthwise torch", target="sm_80"),
    "group norm": at("structure", "group_norm torch"),
    "GRU": at("structure", "recurrent saturating torch"),
    "scan": at("structure", "scan"),
    "pooling": at("structure", "pooling"),
    "cross-entropy": at("structure", "cross_entropy"),
    "mean loss": at("structure", "loss reduction"),
    "rope": at("structure", "rope", dtypes=HALF),
    "embedding": at("structure", "gather torch"),
    "top-k": at("structure", "sort torch"),
    "argmax": at("structure", "arg reduction"),
    "dropout": at("structure", "random pointwise"),
    "pointwise": at("structure", "pointwise"),
    "tiny problem": at("structure", "pointwise small"),
    "stop": at("structure", "reduction", **held("at_ceiling")),
    "map a product": at("mapping", "gemm"),
    "map a product, L2": at("mapping", "gemm", target="sm_80", **held("l2")),
    "map a short product": at("mapping", "gemm", target="sm_89", **held("too_few_programs")),
    "map attention": at("mapping", "attention", target="sm_80", **held("imbalance")),
    "map rows": at("mapping", "normalisation", **held("memory_bandwidth")),
    "map a latency-bound sum": at("mapping", "reduction", **held("memory_latency")),
    "map a convolution": at("mapping", "conv torch", target="sm_80"),
    "map batched products": at("mapping", "batched", target="sm_80"),
    "map pointwise": at("mapping", "pointwise"),
    "tile a product, H200": at("tiling", "gemm"),
    "tile a product, A100": at("tiling", "gemm", target="sm_80"),
    "tile a product, L40S": at("tiling", "gemm", target="sm_89", **held("spills")),
    "tile a product, B200": at("tiling", "gemm", target="sm_100", **held("occupancy")),
    "tile a product of FMA": at("tiling", "gemm", **held("compute")),
    "tile a product, shared memory": at("tiling", "gemm", **held("l1")),
    "tile attention": at("tiling", "attention", **held("tensor_pipe_starved")),
    "tile a small convolution": at("tiling", "conv exact_conv", policy="ieee"),
    "tile rows that spill": at("tiling", "normalisation", **held("spills")),
    "tile short rows": at("tiling", "softmax"),
    "tile a ragged sum": at("tiling", "reduction", **held("occupancy")),
    "memory of a product": at("memory", "gemm", **held("tensor_pipe_starved")),
    "memory of a half product": at("memory", "gemm", dtypes=HALF),
    "memory of a half product, A100": at("memory", "gemm", target="sm_80", dtypes=HALF),
    "memory of an odd product": at("memory", "gemm", target="sm_80", dtypes=HALF, **held("memory_latency")),
    "memory of a convolution": at("memory", "conv exact_conv", policy="ieee"),
    "memory of rows": at("memory", "normalisation", **held("memory_bandwidth")),
    "memory of a waiting sum": at("memory", "reduction", **held("memory_latency")),
    "memory of a transpose": at("memory", "pointwise"),
    "ragged softmax": broken("softmax", TAIL),
    "softmax with NaN": broken("softmax", NAN),
    "attention with NaN": broken("attention", NAN),
    "wrong attention": broken("attention"),
    "wrong norm": broken("normalisation"),
    "wrong batch norm": broken("batch_norm conv", f"buffer running_var [8] float32: {WRONG}"),
    "scaled norm": broken("normalisation", f"{WRONG}; the output is 1.28 times the right one"),
    "wrong GELU": broken("gelu pointwise"),
    "NaN in pointwise": broken("pointwise saturating", NAN),
    "sum with an offset": broken("reduction", f"{WRONG}; the output is the right one plus 3.2"),
    "ragged pooling": broken("pooling", TAIL),
    "wrong convolution": broken("conv", f"{WRONG}; wrong only at 0..0 of dimension 2 (size 64)"),
    "wrong scan": broken("scan"),
    "wrong product": broken("gemm"),
    "wrong half sums": broken("reduction", dtypes=HALF),
    "wrong argmax": broken("arg"),
    "wrong int4": broken("int8", dtypes=("int8",)),
    "wrong sort": broken("sort"),
    "wrong dropout": broken("random"),
    "wrong loss": broken("cross_entropy"),
    "loss with NaN": broken("cross_entropy", NAN),
    "slightly wrong product": broken("gemm", SMALL, group="tiling"),
    "does not fit": broken("gemm", "the kernel does not fit: it needs 262144 of shared memory", "compile_error"),
    "host code": broken("gemm", "RuntimeError: Tensor.item() cannot be called on meta tensors", "runtime_error"),
    "mask of a scalar": broken("gather", "line 10: ValueError: mask has unsupported dtype", "runtime_error"),
    "slow compiler": broken("pointwise", "compiling all kernels of one forward pass takes too long", "timeout"),
    "illegal access": broken("gather", "CUDA error: an illegal memory access was encountered", "gpu_fault"),
    "illegal instruction": broken("conv", "CUDA error: an illegal instruction was encountered", "gpu_fault"),
    "unlike runs": broken("loss", "a second run on the same inputs differs and is wrong: ...", "nondeterministic"),
    "another dtype": broken("arg", "output is int32, expected int64", "wrong_dtype"),
    "another shape": broken("reduction", "output has shape [4, 1], expected [4]", "wrong_shape"),
    "written inputs": broken("pointwise", "the forward pass changes its inputs: number [0]", "rejected"),
    "imports": broken("pointwise", "line 3: imports numpy; a kernel needs torch and triton only", "rejected"),
    "PyTorch computes": broken("gemm", "Triton takes 3 % of the time", "not_triton"),
    "too much memory": broken("attention", "CUDA out of memory", "out_of_memory"),
}  # fmt: skip
