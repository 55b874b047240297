"""One fact in many languages, and English texts with everything in them that looks foreign."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.nlp.language import unreadable

OTHER = "a language other than English"
FOREIGN = [
    ("German", "Berlin ist die Hauptstadt von Deutschland."),
    ("French", "Paris est la capitale de la France."),
    ("Spanish", "Madrid es la capital de España."),
    ("Italian", "Roma è la capitale d'Italia."),
    ("Portuguese", "Lisboa é a capital de Portugal."),
    ("Dutch", "Amsterdam is de hoofdstad van Nederland en het is een grote stad."),
    ("Polish", "Warszawa jest stolicą Polski i leży nad Wisłą."),
    ("Turkish", "Ankara Türkiye'nin başkentidir ve çok büyük bir şehirdir."),
    ("Swedish", "Stockholm är huvudstaden i Sverige och ligger på öar."),
    ("Danish or Norwegian", "København er hovedstaden i Danmark og ligger på Sjælland."),
    ("Finnish", "Helsinki on Suomen pääkaupunki, ja hän sanoi että se oli suuri jo ennen sotaa."),
    ("Hungarian", "Budapest Magyarország fővárosa, és ez egy nagy város."),
    ("Czech", "Praha je hlavní město České republiky, které leží na Vltavě a není malé."),
    ("Romanian", "București este capitala României și este un oraș mare."),
    ("Vietnamese", "Hà Nội là thủ đô của Việt Nam."),
    ("Indonesian or Malay", "Jakarta adalah ibu kota Indonesia yang terletak di pulau Jawa."),
    ("Chinese characters", "北京是中国的首都。"),
    ("Japanese", "東京は日本の首都です。"),
    ("Korean", "서울은 대한민국의 수도입니다."),
    ("Cyrillic script", "Москва — столица России."),
    ("Arabic script", "القاهرة هي عاصمة مصر."),
    ("Devanagari script", "दिल्ली भारत की राजधानी है।"),
    ("Greek script", "Η Αθήνα είναι η πρωτεύουσα της Ελλάδας."),
    ("Hebrew script", "ירושלים היא עיר."),
    ("Thai script", "กรุงเทพเป็นเมืองหลวงของไทย"),
    ("Georgian script", "თბილისი საქართველოს დედაქალაქია"),
    (
        "Maltese",
        "Il-belt hija mibnija fuq għolja u għandha ħafna toroq dojoq fejn jgħixu bosta familji kbar",
    ),
]


@pytest.mark.parametrize(("name", "text"), FOREIGN, ids=[name for name, _ in FOREIGN])
def test_a_text_in_another_language_is_not_readable(name: str, text: str):
    named = name if name.endswith(("script", "characters")) or name in ("Japanese", "Korean") else OTHER
    assert unreadable(text) == f"is written in {named}, and the network reads English only"


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "Paris",
        "photosynthesis",
        "In Lisbon Ada Lund met Otto Brandt.",
        "No",
        "42",
        "6,650 km",
        "E = mc²",
        "α + β = γ",
        "𝑥 + 𝑦 ≤ 3 µm",
        "def f(x): return x + 1",
        "Ludwig van Beethoven",
        "Leonardo da Vinci",
        "Universidad de la República",
        "Cristiano Ronaldo dos Santos Aveiro",
        "José Ortega y Gasset, Madrid",
        "Don Quixote de la Mancha",
        "São Paulo, Brasília, Curitiba, Goiânia, Belém, Maceió, Macapá, Cuiabá, Florianópolis",
        "La La Land",
        "Paris (巴黎)",
        "Ne, Na, Se, As, Al, In, I, O, No",
        "I am a man",
        "Mice die in an hour",
        "Der Spiegel was founded by Rudolf Augstein in Hamburg.",
        "The Chinese name 北京 means northern capital.",
        "Gabriel García Márquez wrote Cien años de soledad.",
        "El Niño warms the ocean",
        "The motto of the city is 'Fluctuat nec mergitur', which is Latin and not French.",
        "THE TREATY WAS SIGNED IN 1648",
    ],
)
def test_english_names_numbers_formulae_and_code_are_readable(text: str):
    assert unreadable(text) is None


def test_capitals_hide_no_language():
    assert OTHER in (unreadable("BERLIN IST DIE HAUPTSTADT VON DEUTSCHLAND") or "")


def test_a_long_text_is_judged_by_all_of_its_parts():
    english = "The treaty was signed by the three powers in the town hall. " * 2000
    german = "Der Vertrag wurde von den drei Mächten im Rathaus unterzeichnet. " * 6000
    assert unreadable(english) is None
    assert unreadable(english + german) == f"is written in {OTHER}, and the network reads English only"
    assert unreadable(english * 3 + german[: len(german) // 6]) is None


@given(st.text(max_size=200))
def test_any_text_has_an_answer(text: str):
    assert unreadable(text) is None or "is written in" in (unreadable(text) or "")
