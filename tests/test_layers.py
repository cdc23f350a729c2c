"""Dependencies point one way, and the main process stays light."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_imports_point_one_way():
    linter = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"]
    done = subprocess.run(linter, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 kept, 0 broken" in done.stdout


def test_the_main_process_imports_neither_torch_nor_triton():
    check = (
        "import sys, egg.graph.app, egg.cli, egg.drive, egg.results;"
        "print(sorted({'torch', 'triton', 'langchain_openai', 'openai'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", check], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_package_of_the_tree_is_reached_by_its_link():
    for name in ("agents", "evals", "graph", "state", "tools"):
        link = ROOT / "egg" / name
        assert link.is_symlink() and link.readlink() == Path("..") / name


def test_every_folder_with_modules_is_a_package():
    """The wheel holds packages only; problems and recordings are data."""
    loose = {
        str(module.parent.relative_to(ROOT))
        for name in ("agents", "evals", "graph", "state", "tools")
        for module in (ROOT / name).rglob("*.py")
        if not (module.parent / "__init__.py").exists()
    }
    assert {folder for folder in loose if not folder.startswith("evals/recordings/")} <= {"evals/problems"}
