"""What the person says of answers: right, a wrong source, something missing."""

import reflex as rx

from rag_app.errors import RagAppError
from rag_app.evaluation import golden
from rag_app.runtime import current
from rag_app.ui.state.chat_state import ChatState
from rag_app.ui.state.filter_state import is_id
from rag_app.ui.state.session_state import SIGN_IN, is_allowed, language_of, show_error
from rag_app.ui.texts import say


class VerdictState(rx.State):
    """The verdicts of the conversation on the page, by the turn's id."""

    verdicts: dict[str, str] = {}
    told: str = ""  # said once, for those who do not see which button is pressed

    @rx.event
    async def load(self):
        """Read what was said of the answers of this conversation."""
        if not is_allowed(self):
            return
        chat, runtime = await self.get_state(ChatState), current()
        turns = list(chat._places)
        self.told = ""
        try:
            found = (
                await golden.verdicts(runtime.database, runtime.workspace_id, turns)
                if turns
                else {}
            )
        except RagAppError as error:
            await show_error(self, error)
            return
        self.verdicts = {str(turn_id): verdict for turn_id, verdict in found.items()}

    @rx.event
    async def judge(self, turn_id: int, verdict: str):
        """Keep a verdict; pressed a second time it is taken back."""
        if not is_allowed(self):
            return SIGN_IN
        if not is_id(turn_id) or verdict not in golden.VERDICTS:
            return None
        runtime, key = current(), str(turn_id)
        arguments = (runtime.database, runtime.workspace_id, turn_id)
        is_taken_back = self.verdicts.get(key) == verdict
        try:
            if is_taken_back:
                await golden.forget_turn(*arguments)
            else:
                await golden.judge_turn(*arguments, verdict)
        except RagAppError as error:
            await show_error(self, error)
            return None
        others = {turn: said for turn, said in self.verdicts.items() if turn != key}
        self.verdicts = others if is_taken_back else {**others, key: verdict}
        language = language_of(self)
        self.told = (
            say("verdict_forgotten", language)
            if is_taken_back
            else say("verdict_kept", language, verdict=say(f"verdict_{verdict}", language))
        )
        return None
