"""What is claimed of profile, estimate and search, shown on this machine's GPU: `python -m egg.evals.claims --out DIR`.

Four commands one after the other, each with a results file in DIR: static_check, estimator, search_check, denied. What
a file holds already is not done again, so the same line goes on where it stopped, and `--minutes` says when to stop.
With `--plot` the estimator's picture is drawn too.

Exit code 0: all four are as claimed.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from time import monotonic

COMMANDS = ("static_check", "estimator", "search_check", "denied")
ENDED, LATE = "as claimed", "no time was left"


def command(name: str, folder: Path, plot: bool) -> list[str]:
    """What starts one of them."""
    line = [sys.executable, "-m", f"egg.evals.{name}", "--out", str(folder / f"{name}.json")]
    return [*line, "--plot", str(folder / "estimator.svg")] if plot and name == "estimator" else line


def run(name: str, folder: Path, plot: bool, seconds: float) -> str:
    """One of them, ended when its time is over; its results so far are kept."""
    if seconds <= 0:
        return LATE
    process = subprocess.Popen(command(name, folder, plot))
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return LATE
    return ENDED if code == 0 else f"not as claimed, or not shown here ({code})"


def main() -> int:
    """All of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the results files")
    parser.add_argument("--only", nargs="*", default=list(COMMANDS), choices=COMMANDS, help="of the four")
    parser.add_argument("--minutes", type=float, default=9.0, help="for all together")
    parser.add_argument("--plot", action="store_true", help="draw the estimator's picture; needs matplotlib")
    options = parser.parse_args()
    until, ends = monotonic() + 60 * options.minutes, {}
    for name in (name for name in COMMANDS if name in options.only):
        began = monotonic()
        print(f"== {name}", flush=True)
        ends[name] = run(name, options.out, options.plot, until - began)
        print(f"== {name}: {ends[name]} ({monotonic() - began:.0f} s)", flush=True)
    print("\n".join(f"{name:14} {end}" for name, end in ends.items()))
    return 0 if all(end == ENDED for end in ends.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
