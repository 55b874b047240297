"""Specs and settings to endpoints; keys stay hidden."""

import pytest

from evenhand.errors import UserError
from evenhand.llm.dialect import Dialect
from evenhand.llm.endpoints import Endpoint, endpoint_of
from evenhand.settings import Secret, Settings

KEY = "sk-test-4711"


def endpoint(spec: str, **environment: str) -> Endpoint:
    return endpoint_of(spec, Settings.from_environment(environment))


def test_openai_is_reached_at_its_own_address_with_its_own_key():
    found = endpoint("openai:gpt-4.1", OPENAI_API_KEY=KEY)
    assert (found.name, found.model) == ("openai:gpt-4.1", "gpt-4.1")
    assert found.url == "https://api.openai.com/v1/chat/completions"
    assert found.host == "api.openai.com"
    assert found.key is not None
    assert found.key.reveal() == KEY
    assert found.dialect.limits == ("max_completion_tokens", "max_tokens")
    assert found.dialect.structure == "json_schema"


def test_openai_base_url_takes_the_place_of_the_address_and_of_the_prices():
    elsewhere = endpoint("openai:m", OPENAI_API_KEY=KEY, OPENAI_BASE_URL="http://localhost:9/v1/")
    assert (elsewhere.url, elsewhere.name.partition("#")[0]) == (
        "http://localhost:9/v1/chat/completions",
        "http://localhost:9/v1",
    )
    europe = endpoint("openai:m", OPENAI_API_KEY=KEY, OPENAI_BASE_URL="https://eu.api.openai.com/v1")
    assert (europe.url, europe.name.partition(":")[0]) == ("https://eu.api.openai.com/v1/chat/completions", "openai")


def test_gemini_takes_either_of_two_variables_and_the_first_one_first():
    found = endpoint("gemini:gemini-2.5-flash", GOOGLE_API_KEY="second")
    assert found.url == "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions"
    assert found.variable == "GOOGLE_API_KEY"
    both = endpoint("gemini:m", GOOGLE_API_KEY="second", GEMINI_API_KEY="first")
    assert both.key is not None
    assert (both.key.reveal(), both.variable) == ("first", "GEMINI_API_KEY")


def test_anthropic_is_not_asked_for_what_it_passes_over():
    found = endpoint("anthropic:claude-sonnet-4-5", ANTHROPIC_API_KEY=KEY)
    assert found.url == "https://api.anthropic.com/v1/chat/completions"
    assert found.dialect == Dialect("none", seed=False, logprobs=False, hottest=1.0)


@pytest.mark.parametrize(
    "spec",
    [
        "http://localhost:8000/v1#meta/llama:8b",
        "http://localhost:8000/v1/#meta/llama:8b",
        "HTTP://localhost:8000/v1/chat/completions#meta/llama:8b",
    ],
)
def test_a_server_is_named_by_its_address_and_model(spec: str):
    found = endpoint(spec)
    assert found.name == "http://localhost:8000/v1#meta/llama:8b"
    assert (found.url, found.model) == ("http://localhost:8000/v1/chat/completions", "meta/llama:8b")
    assert found.key is None


def test_a_server_gets_evenhands_own_key_and_no_other():
    keys = {"OPENAI_API_KEY": "theirs", "EVENHAND_API_KEY": "ours"}
    found = endpoint("https://models.example.org/v1#m", **keys)
    assert found.key is not None
    assert found.key.reveal() == "ours"
    assert endpoint("https://models.example.org/v1#m", OPENAI_API_KEY="theirs").key is None


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("opnai:gpt-4.1", ["opnai:gpt-4.1", "openai:MODEL", "anthropic:MODEL", "http://HOST:PORT/v1#MODEL"]),
        ("gpt-4.1", ["gpt-4.1", "openai:MODEL"]),
        ("openai:", ["name of the model", "openai:gpt-4.1-mini"]),
        ("openai:m", ["OPENAI_API_KEY"]),
        ("gemini:m", ["GEMINI_API_KEY or GOOGLE_API_KEY"]),
        ("anthropic:m", ["ANTHROPIC_API_KEY"]),
        ("http://localhost:8000/v1", ["after a #", "http://localhost:8000/v1#llama3.1"]),
        ("http://localhost:8000/v1# ", ["after a #"]),
        ("http:///v1#m", ["not an address", "http://localhost:8000/v1"]),
        ("http://host:port/v1#m", ["not an address"]),
        ("http://local host/v1#m", ["not an address"]),
        ("https://h/v1?api-version=1#m", ["from the ? on"]),
        ("http://user:hunter2@h/v1#m", ["EVENHAND_API_KEY"]),
        ("http://hunter2@h/v1#m", ["EVENHAND_API_KEY"]),
    ],
)
def test_a_wrong_spec_is_answered_with_what_is_valid(spec: str, words: list[str]):
    with pytest.raises(UserError) as caught:
        endpoint(spec)
    assert [word for word in words if word not in str(caught.value)] == []
    assert "hunter2" not in str(caught.value)


def test_a_base_url_with_a_password_is_refused():
    with pytest.raises(UserError) as caught:
        endpoint("openai:m", OPENAI_API_KEY=KEY, OPENAI_BASE_URL="https://me:hunter2@h/v1")
    assert "OPENAI_BASE_URL" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("key", ["sk-a b", "sk-a\nb", "sk-ü"])
def test_a_key_that_cannot_be_sent_is_refused_without_being_shown(key: str):
    with pytest.raises(UserError, match="OPENAI_API_KEY") as caught:
        endpoint("openai:m", OPENAI_API_KEY=key)
    assert key not in str(caught.value)


def test_a_blank_variable_is_not_set_and_blanks_around_a_key_are_dropped():
    with pytest.raises(UserError, match="OPENAI_API_KEY"):
        endpoint("openai:m", OPENAI_API_KEY="  ")
    assert Settings.from_environment({"OPENAI_API_KEY": f" {KEY}\n"}).keys["OPENAI_API_KEY"].reveal() == KEY


def test_secrets_are_not_shown():
    settings = Settings.from_environment({"OPENAI_API_KEY": KEY})
    shown = [repr(settings), str(Secret(KEY)), f"{Secret(KEY)}", repr(endpoint_of("openai:m", settings))]
    assert [text for text in shown if KEY in text] == []
    assert "***" in shown[0]


def test_another_server_behind_openais_name_is_another_model_without_a_price():
    settings = Settings.from_environment({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})
    endpoint = endpoint_of("openai:gpt-x", settings)
    assert (endpoint.name, endpoint.model) == ("http://127.0.0.1:9/v1#gpt-x", "gpt-x")
