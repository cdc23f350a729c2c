"""Read a problem file."""

from hashlib import sha256
from pathlib import Path

from egg.state.device import Device
from egg.state.errors import UserError
from egg.state.problem import Problem
from egg.tools.parsing import parse
from egg.tools.sandbox.client import Bounds, run
from egg.tools.shrink import resized

NO_SMALL = (
    "{}: no sizes small enough for Triton's interpreter were found and no GPU is here; "
    "define get_small_inputs() (and get_small_init_inputs()) in the problem file"
)


def load_problem(path: str) -> Problem:
    """The problem in KernelBench's format at `path`; the file is executed only in a child.

    Raises:
        UserError: not a file, or not a problem.
    """
    file = Path(path)
    if not file.is_file():
        raise UserError(f"{path}: no such file; give the path of a problem file")
    try:
        source = file.read_text(encoding="utf-8")
        parse(source)
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not a text file in UTF-8") from error
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise UserError(f"{path}: syntax error{f' in line {line}' if line else ''}: {error.args[0]}") from error
    name = "".join(c if c.isalnum() else "_" for c in file.stem)
    reply = run("egg.tools.tasks.problem:examine", {"source": source, "name": name}, Bounds(seconds=180))
    if reply.state not in ("done", "raised"):
        raise UserError(f"{path}: running the reference ends in {reply.state}: {reply.error}")
    found = reply.require(f"{path}: could not be examined")
    return Problem(
        name=file.stem,
        path=str(file.resolve()),
        source=source,
        small_source=found["small_source"],
        small_constants=found["small_constants"],
        digest=sha256(source.encode()).hexdigest(),
    )


def sized_source(problem: Problem, device: Device) -> str:
    """The source to check a candidate with: full size where there is a GPU, else the small one.

    Raises:
        UserError: there is neither a GPU nor a small one.
    """
    if device.present:
        return problem.source
    if problem.small_source is None:
        raise UserError(NO_SMALL.format(problem.path))
    return problem.small_source


def sized_candidate(problem: Problem, candidate: str, device: Device) -> str:
    """The candidate for the same sizes as `sized_source`."""
    return candidate if device.present else resized(candidate, problem.source, problem.small_constants)
