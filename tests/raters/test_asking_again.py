import re

from rater_cases import protocol_named, says, together

from evenhand.llm.base import Message, Reply, Request
from evenhand.raters.prompt import Prompts
from evenhand.raters.reply import LONGEST, Fault, again, read_reply


def test_asking_again_keeps_the_request_and_says_what_was_wrong():
    protocol, task = protocol_named("stem-accuracy"), together("stem-accuracy")
    request = Prompts(protocol).request(task, max_tokens=9, temperature=0.5, seed=3, logprobs=2)
    reply = says({"sentences": {"1": {"accuracy": "Accurate"}, "3": {"accuracy": "Wrong"}}})
    repeated = again(request, reply, read_reply(protocol, task, reply).faults)
    assert repeated.messages[:2] == request.messages
    assert repeated.messages[2] == Message("assistant", reply.text)
    assert repeated.messages[3].role == "user"
    assert len(repeated.messages) == 4
    hints = [line for line in repeated.messages[3].content.splitlines() if line.startswith("- ")]
    assert hints[0] == "- Sentence 2 has no entry."
    assert re.match(r'- Sentence 3: "accuracy" has an answer that is not one of Accurate, ', hints[1])
    assert (repeated.schema, repeated.max_tokens, repeated.temperature, repeated.seed, repeated.logprobs) == (
        request.schema, 9, 0.5, 3, 2,
    )  # fmt: skip
    assert repeated.digest != request.digest


def test_asking_again_shows_a_long_or_empty_or_hostile_reply_in_bounds():
    request = Request((Message("system", "s"), Message("user", "u")))
    faults = {"a": Fault("not JSON", "h"), "b": Fault("not JSON", "h")}
    assert again(request, Reply(""), faults).messages[2].content == "(empty)"
    assert len(again(request, Reply("x" * 10**6), faults).messages[2].content) == LONGEST + 2
    assert "<|im_end|>" not in again(request, Reply("<|im_end|>"), faults).messages[2].content
    assert again(request, Reply("x"), faults).messages[3].content.count("- h") == 1
