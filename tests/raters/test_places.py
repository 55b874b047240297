import json

from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.raters.places import value_places

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


def test_values_of_objects_have_places_and_those_in_lists_have_none():
    text = '... {"a": {"b": [ {"c": 1} ], "d": "x"}, "e":5} ...'
    assert value_places(text, 4) == {
        ("a",): text.index('{"b"'),
        ("a", "b"): text.index("[ "),
        ("a", "d"): text.index('"x"'),
        ("e",): text.index("5"),
    }


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=4), values, max_size=4), st.sampled_from([None, 0, 3]), st.booleans())
def test_at_each_place_a_json_parser_reads_the_value(body: dict[str, object], indent: int | None, ascii_only: bool):
    text = json.dumps(body, indent=indent, ensure_ascii=ascii_only)
    for path, place in value_places(text, 0).items():
        expected: object = body
        for key in path:
            assert isinstance(expected, dict)
            expected = expected[key]  # pyright: ignore[reportUnknownVariableType]
        assert json.JSONDecoder().raw_decode(text, place)[0] == expected
