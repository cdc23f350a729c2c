"""The place of a kernel in its file is kept apart from its text."""

from egg.tools.launched import Job
from egg.tools.sandbox.client import run

TTIR = """
#loc1 = loc("/scratch/candidate.py":{a}:5)
#loc2 = loc("/scratch/candidate.py":{b}:9)
#loc3 = loc("/lib/python3/standard.py":200:3)
#loc4 = loc("acc"(#loc1))
#loc5 = loc("/scratch/candidate.py":{a}:31)
"""


def test_a_kernel_that_moved_has_the_same_text() -> None:
    first, moved = (
        run("tests.tools.tasks.lower_child:number", {"ttir": TTIR.format(a=a, b=b)}).require("numbering")
        for a, b in ((12, 14), (112, 114))
    )
    assert first["text"] == moved["text"]
    assert (first["lines"], moved["lines"]) == ([12, 14], [112, 114])
    assert '"candidate.py":1:0' in first["text"] and '"candidate.py":2:0' in first["text"]
    assert '"standard.py":200:0' in first["text"] and 'loc("acc"(#loc1))' in first["text"]


def test_a_job_is_plain_data() -> None:
    job = Job(name="k", ttir="module {}", options={"num_warps": 4, "extern_libs": [["a", "b"]]}, lines=(3,))
    assert Job.model_validate_json(job.model_dump_json()) == job
