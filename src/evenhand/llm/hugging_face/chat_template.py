"""From messages to the tokens that a model reads, by the chat template of its tokenizer."""

import re
from collections.abc import Sequence
from typing import Any

from evenhand.llm.base import CallError, Message, RunError
from evenhand.llm.fencing import JOINER

_MARKUP = frozenset("<>[]|｜")
_SURROGATE = re.compile("[\ud800-\udfff]")
_HEADINGS = {"system": "### Instructions", "user": "### Case", "assistant": "### Reply"}

Conversation = list[dict[str, str]]


class ChatTemplate:
    """The format of one model's prompts.

    If its template has no system role, the system text goes at the head of the first user message; if there is no
    template, the messages become plain text under headings. No text of a message can become a control token.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._plain = not tokenizer.chat_template
        self._control = _control_tokens(tokenizer)
        longest_first = sorted(self._control, key=len, reverse=True)
        self._whole = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")
        self._skeletons: dict[tuple[str, ...], list[int]] = {}
        self._system = self._plain or self._knows_system()

    def tokens(self, messages: Sequence[Message]) -> list[int]:
        """The prompt, up to where the reply begins."""
        turns = [{"role": message.role, "content": self._harmless(message.content)} for message in messages]
        tokens = self._encoded(turns if self._system else _without_system(turns))
        # The joiner breaks up every control token that is matched literally. A tokenizer may also match after
        # normalising the text, so the control tokens are compared with those that the template writes by itself.
        if self._controls_in(tokens) != self._skeleton(tuple(message.role for message in messages)):
            raise CallError("the text contains control tokens of the model")
        return tokens

    def _harmless(self, content: str) -> str:
        content = _SURROGATE.sub("\ufffd", content)
        while self._whole.search(content):
            content = self._whole.sub(lambda found: found[0][0] + JOINER + found[0][1:], content)
        return content

    def _skeleton(self, roles: tuple[str, ...]) -> list[int]:
        """The control tokens of a conversation in which every message is `x`."""
        if roles not in self._skeletons:
            turns = [{"role": role, "content": "x"} for role in roles]
            self._skeletons[roles] = self._controls_in(self._encoded(turns if self._system else _without_system(turns)))
        return self._skeletons[roles]

    def _controls_in(self, tokens: Sequence[int]) -> list[int]:
        known = set(self._control.values())
        return [token for token in tokens if token in known]

    def _encoded(self, turns: Conversation) -> list[int]:
        try:
            text = self._rendered(turns)
        except Exception as error:
            raise RunError(f"the model's chat template cannot be used: {error}") from error
        return self._tokenizer(text, add_special_tokens=self._plain, truncation=False)["input_ids"]

    def _rendered(self, turns: Conversation) -> str:
        if self._plain:
            parts = [f"{_HEADINGS[turn['role']]}\n\n{turn['content']}\n\n" for turn in turns]
            return "".join([*parts, _HEADINGS["assistant"], "\n\n"])
        # Thinking aloud first would break the schema; templates of models that do so know this name, others ignore it.
        return self._tokenizer.apply_chat_template(
            turns, add_generation_prompt=True, tokenize=False, enable_thinking=False
        )

    def _knows_system(self) -> bool:
        asked = [{"role": "system", "content": "Evenhand probes."}, {"role": "user", "content": "Nothing."}]
        try:
            return asked[0]["content"] in self._rendered(asked)
        except Exception:  # noqa: BLE001 - a template is a program, and fails in any way it likes
            return False


def _control_tokens(tokenizer: Any) -> dict[str, int]:
    """What only a template may write: special tokens, and added ones that it contains or that look like markup.

    Added tokens that are runs of spaces or words are text. So is the token for unknown characters.
    """
    template = str(tokenizer.chat_template)
    control: dict[str, int] = {}
    for number, token in tokenizer.added_tokens_decoder.items():
        content: str = token.content
        marks = token.special or content in template or not _MARKUP.isdisjoint(content)
        if marks and len(content) > 1 and not content.isspace() and number != tokenizer.unk_token_id:
            control[content] = number
    return control


def _without_system(turns: Conversation) -> Conversation:
    """The same conversation with the system text at the head of the first user message."""
    said = "\n\n".join(turn["content"] for turn in turns if turn["role"] == "system")
    rest = [dict(turn) for turn in turns if turn["role"] != "system"]
    first = next((turn for turn in rest if turn["role"] == "user"), None)
    if first is None:
        return [{"role": "user", "content": said}, *rest] if said else rest
    if said:
        first["content"] = f"{said}\n\n{first['content']}"
    return rest
