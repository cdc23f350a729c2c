"""The rulebook as a chat model: same messages in, same tool calls out as any other backbone."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, ToolCall
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from egg.agents.rulebook import code, debug, profile
from egg.agents.rulebook.step import Call, Case

RULES: dict[str, Callable[[Case], Call]] = {"code": code.decide, "profile": profile.decide, "debug": debug.decide}


class Rulebook(BaseChatModel):
    """Deterministic and stateless: everything it decides from is in the messages. Needs no key and no network."""

    @property
    def _llm_type(self) -> str:
        return "rulebook"

    def bind_tools(
        self, tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool], **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """As for any tool-calling model."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        case = Case.read(messages)
        call = RULES[case.brief["role"]](case)
        answer = AIMessage(
            content=call.because,
            tool_calls=[ToolCall(name=call.tool, args=call.args, id=f"rule-{len(messages)}", type="tool_call")],
        )
        return ChatResult(generations=[ChatGeneration(message=answer)])
