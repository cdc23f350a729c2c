"""Make a recording that can be kept with the code: what a replay needs of a run folder, without paths of this machine.

    python -m egg.evals.pack RUN DIR --by "rulebook, the built-in expert"

DIR then holds five files (docs/replay.md) and replays as the run does; `--by` says who answered, as a reader should
know it: a model's name says nothing of a script behind a server of one's own.
"""

import argparse
import json
from pathlib import Path

from egg.agents.exchange import FILE as EXCHANGES
from egg.agents.replayed import recording
from egg.state.errors import UserError
from egg.tools.answers import FILE as ANSWERS
from egg.tools.kept import BY
from egg.tools.kept import FILE as RESULTS

NEEDED = (EXCHANGES, RESULTS, "evidence.json", "kernel.py")


def pack(name: str, out: Path, by: str) -> list[Path]:
    """Copy the recording in run `name` to `out`.

    Raises:
        UserError: the run holds no whole recording.
    """
    folder = recording(name)
    if missing := [each for each in NEEDED if not (folder / each).is_file()]:
        raise UserError(f"{name} holds no {', '.join(missing)}: finish the run first")
    path = json.loads((folder / "evidence.json").read_text())["problem"]["path"]
    short = {str(folder): "RUN", str(Path(path)): Path(path).name}
    out.mkdir(parents=True, exist_ok=True)
    for each in (*NEEDED, *((ANSWERS,) if (folder / ANSWERS).exists() else ())):
        text = (folder / each).read_text()
        for long, name in short.items():
            text = text.replace(long, name)
        (out / each).write_text(text)
    (out / BY).write_text(by.strip() + "\n")
    return sorted(out.iterdir())


def main() -> None:
    """Pack, and say what was written."""
    parser = argparse.ArgumentParser(description="Keep a recorded run without its checkpoint and paths.")
    parser.add_argument("run")
    parser.add_argument("out", type=Path)
    parser.add_argument("--by", required=True, help="Who answered: the rulebook, a script, a model by name and date")
    options = parser.parse_args()
    for path in pack(options.run, options.out, options.by):
        print(f"{path.stat().st_size:8} {path}")


if __name__ == "__main__":
    main()
