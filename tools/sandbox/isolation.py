"""Which level of isolation children get here."""

from functools import cache

from egg.state.isolation import Aspect, Isolation


@cache
def isolation(*, interpret: bool) -> Isolation:
    """The level in force for children of one mode (with Triton's interpreter, or for compiling and the GPU)."""
    return Isolation(
        level=0,
        name="none",
        aspects=(
            Aspect(what="environment", how="an allow-list of variables", verified=False),
            Aspect(what="memory", how="an rlimit on each process", verified=False),
        ),
        missing=("namespaces, Landlock and seccomp are not used yet",),
    )
