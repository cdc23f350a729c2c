"""What people answered in a run: `answers.jsonl` in its folder, a line for each question."""

import json
import os
from pathlib import Path

from egg.state.pause import Answer, Question

ANSWERS = "answers.jsonl"


def keep_answer(run_dir: str | Path, question: Question, answer: Answer) -> None:
    """Note an answer, once, whatever is killed on the way."""
    place = {"kind": question.kind, "stage": question.stage, "number": question.number}
    line = {**place, "answer": answer.model_dump(mode="json", exclude_defaults=True)}
    if line in kept_answers(run_dir):
        return
    with (Path(run_dir) / ANSWERS).open("a") as file:
        file.write(json.dumps(line) + "\n")
        file.flush()
        os.fsync(file.fileno())


def kept_answers(run_dir: str | Path) -> list[dict[str, object]]:
    """Every answer with the kind, stage and number of its question; a line that a kill cut off is none."""
    path = Path(run_dir) / ANSWERS
    found = []
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found
