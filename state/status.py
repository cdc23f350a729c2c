"""The closed list of verdicts."""

from enum import StrEnum


class Status(StrEnum):
    """The closed list of verdicts."""

    OK = "ok"
    REJECTED = "rejected"
    COMPILE_ERROR = "compile_error"
    RUNTIME_ERROR = "runtime_error"
    WRONG_SHAPE = "wrong_shape"
    WRONG_DTYPE = "wrong_dtype"
    MISMATCH = "mismatch"
    NONDETERMINISTIC = "nondeterministic"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    PROCESS_LIMIT = "process_limit"
    DISK_LIMIT = "disk_limit"
    OUTPUT_LIMIT = "output_limit"
    FORBIDDEN = "forbidden"
    GPU_FAULT = "gpu_fault"
    CHEAT = "cheat"
    NOT_TRITON = "not_triton"
