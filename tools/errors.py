"""A candidate's failure, on its way to becoming a verdict."""

from egg.state.evaluation import Status


class CandidateError(Exception):
    """The candidate failed with this status; the feedback is for the debug agent."""

    def __init__(self, status: Status, feedback: str) -> None:
        super().__init__(f"{status}: {feedback}")
        self.status = status
        self.feedback = feedback
