"""What a model may call: thin LangChain tools over `egg.tools`.

Each answers with a short text for an LLM and the same as JSON, the artifact, for the rulebook. A failure that the
model can mend is a `ToolException`; a broken machine propagates and stops the run.
"""
