"""The schemas of the state machine: what a run is given, what it holds, what one stage may see.

Graph state is a `TypedDict` of records. Everything a resume needs is in it: LangGraph's run context is not
checkpointed. What a stage's agents see is `StageState`, private to the stage; what leaves it is `StageOutput`.
"""

from typing import Annotated, TypedDict

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from pydantic import BaseModel, ConfigDict, Field

from egg.state.backbone import Protocol, Roles, Sampling
from egg.state.bottleneck import Bottleneck
from egg.state.candidate import Candidate
from egg.state.device import Device
from egg.state.evaluation import Baseline, Evaluation
from egg.state.ledger import Decision, Review
from egg.state.outcome import Outcome
from egg.state.pause import Pause
from egg.state.plan import Diagnosis, Plan
from egg.state.problem import Problem, Workload
from egg.state.reducers import Attempts, Ledger, add_usage, append_decisions, keep_better, later, merge_attempts
from egg.state.search import Searched, SearchLimits
from egg.state.settings import Limits, Policy, Settings, Target
from egg.state.stage import StageSpec
from egg.state.usage import Usage


class RunInput(BaseModel):
    """A run's input; LangGraph Studio shows it as a form."""

    model_config = ConfigDict(extra="forbid")

    problem_file: str = Field(min_length=1, description="Path of a problem: Model, get_inputs, get_init_inputs")
    model: str = Field("rulebook", description="`rulebook`, `openai:NAME`, or `PROVIDER:NAME` of another provider")
    base_url: str | None = Field(None, description="Endpoint of an OpenAI-compatible server")
    protocol: Protocol = Field(Protocol.TOOLS, description="How the model calls tools: `tools`, or `text` without any")
    temperature: float | None = Field(None, ge=0, le=2, description="Sampling temperature; the provider's default")
    effort: str | None = Field(None, min_length=1, description="Reasoning effort: low, medium, high, ...")
    max_output: int | None = Field(None, ge=1, description="Cap on the tokens of one answer")
    roles: Roles = Field(Roles(), description="What is different for the code, profile or debug agent")
    seeds: int = Field(2, ge=1, le=16, description="Seeds, each with another algorithmic structure")
    policy: Policy = Field(Policy.STOCK, description="Floating-point policy of both sides")
    target: Target | None = Field(None, description="GPU to compile for; this machine's own where there is one")
    max_calls: int = Field(200, ge=0, description="Cap on model calls")
    max_tokens: int = Field(400_000, ge=0, description="Cap on input plus output tokens")
    max_usd: float | None = Field(None, gt=0, description="Cap on money, by the price table")
    max_gpu_minutes: float | None = Field(None, gt=0, description="Cap on the time in which the run holds a GPU")
    max_minutes: float = Field(60.0, gt=0, description="Cap on wall time")
    search: bool = Field(True, description="Whether a machine search chooses numbers in the tuning stages")
    max_points: int | None = Field(None, ge=1, description="Cap on the points of one search; 48 with a GPU, 12 without")
    pause: Pause = Field(Pause.NEVER, description="Wait for a person before stages, on decisions, or both")
    run_dir: str | None = Field(None, description="Folder of the run; `runs/<thread id>` by default")

    @property
    def settings(self) -> Settings:
        """The run's settings, every default written out."""
        return Settings(
            model=self.model,
            base_url=self.base_url,
            protocol=self.protocol,
            sampling=Sampling(temperature=self.temperature, effort=self.effort, max_output=self.max_output),
            roles=self.roles,
            seeds=self.seeds,
            policy=self.policy,
            target=self.target,
            search=self.search,
            search_limits=SearchLimits(points=self.max_points),
            pause=self.pause,
            limits=Limits(
                calls=self.max_calls,
                tokens=self.max_tokens,
                usd=self.max_usd,
                gpu_minutes=self.max_gpu_minutes,
                minutes=self.max_minutes,
            ),
        )


class Task(TypedDict):
    """What intake settles once and every later node reads."""

    run_dir: str
    settings: Settings
    problem: Problem
    workload: Workload
    device: Device


class RunState(TypedDict, total=False):
    """The whole run."""

    run_dir: str
    settings: Settings
    problem: Problem
    workload: Workload
    device: Device
    baseline: Baseline
    incumbent: Annotated[Candidate | None, keep_better]
    ledger: Annotated[Ledger, append_decisions]
    attempts: Annotated[Attempts, merge_attempts]
    usage: Annotated[Usage, add_usage]
    elapsed_ms: Annotated[int, later]
    confirmation: Evaluation | None
    outcome: Outcome
    decided: Decision | None


class StageInput(Task):
    """One stage's brief, as its Send carries it."""

    baseline: Baseline
    spec: StageSpec
    branch: str
    structure: str
    history: Ledger
    spent: Usage
    incumbent: Annotated[Candidate | None, keep_better]
    elapsed_ms: Annotated[int, later]


class StageState(StageInput, total=False):
    """A stage's private state; nothing here but `StageOutput` outlives the stage."""

    plan: Plan | None
    draft: Candidate | None
    diagnosis: Diagnosis | None
    round: int
    repair: int
    stopped: str | None
    searched: Searched | None
    searching: bool
    opened_ms: int
    hints: tuple[str, ...]
    left_out: Review | None
    opened_with: Candidate | None
    decided: Decision | None
    attempts: Annotated[Attempts, merge_attempts]
    usage: Annotated[Usage, add_usage]
    ledger: Annotated[Ledger, append_decisions]


class StageOutput(TypedDict, total=False):
    """What crosses a stage's boundary: the decision, the kernel, one-line headers of the rest, the bill."""

    incumbent: Annotated[Candidate | None, keep_better]
    ledger: Annotated[Ledger, append_decisions]
    attempts: Annotated[Attempts, merge_attempts]
    usage: Annotated[Usage, add_usage]
    elapsed_ms: Annotated[int, later]


class AgentInput(StageInput, total=False):
    """What an agent is given: the brief and this stage's own attempts, never another stage's."""

    plan: Plan | None
    draft: Candidate | None
    diagnosis: Diagnosis | None
    round: int
    repair: int
    searched: Searched | None
    hints: tuple[str, ...]
    attempts: Attempts


class AgentState(AgentInput, total=False):
    """An agent's private state."""

    messages: Annotated[list[AnyMessage], add_messages]
    bottlenecks: tuple[Bottleneck, ...]
    headroom: float | None
    stopped: str | None
    usage: Annotated[Usage, add_usage]


class CodeOutput(TypedDict, total=False):
    """The code agent's answer; `draft` is None and `stopped`, or the plan, says why if it submitted nothing."""

    draft: Candidate | None
    plan: Plan | None
    stopped: str | None
    usage: Annotated[Usage, add_usage]


class ProfileOutput(TypedDict, total=False):
    """The profile agent's answer."""

    plan: Plan | None
    stopped: str | None
    usage: Annotated[Usage, add_usage]


class DebugOutput(TypedDict, total=False):
    """The debug agent's answer."""

    diagnosis: Diagnosis | None
    stopped: str | None
    usage: Annotated[Usage, add_usage]
