"""Units of measure: what they measure, and how much of it, so that miles can be held against kilometres."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    """`size` in the dimension's own base unit; `zero` is where its scale begins there (temperatures)."""

    name: str
    dimension: str
    size: float
    zero: float = 0.0


_TABLE = """
length 1 metre|metres|meter|meters|m
length 1000 kilometre|kilometres|kilometer|kilometers|km|kms
length 0.01 centimetre|centimetres|centimeter|centimeters|cm
length 0.001 millimetre|millimetres|millimeter|millimeters|mm
length 0.000001 micrometre|micrometres|micrometer|micrometers|micron|microns|µm
length 0.000000001 nanometre|nanometres|nanometer|nanometers|nm
length 1609.344 mile|miles|mi
length 0.3048 foot|feet|ft
length 0.0254 inch|inches
length 0.9144 yard|yards|yd
length 1852 nautical mile|nautical miles
length 9460730472580800 light year|light years|light - years|light-years
mass 1 kilogram|kilograms|kilogramme|kilogrammes|kg|kgs|kilo|kilos
mass 0.001 gram|grams|gramme|grammes|g
mass 0.000001 milligram|milligrams|mg
mass 0.000000001 microgram|micrograms|mcg|µg
mass 1000 tonne|tonnes|metric ton|metric tons|metric tonnes
mass 907.18474 ton|tons
mass 0.45359237 pound|pounds|lb|lbs
mass 0.028349523 ounce|ounces|oz
time 1 second|seconds|sec|secs|s
time 0.001 millisecond|milliseconds|ms
time 60 minute|minutes|min|mins
time 3600 hour|hours|hr|hrs|h
time 86400 day|days
time 604800 week|weeks
time 2629746 month|months
time 31556952 year|years|yr|yrs
time 315569520 decade|decades
time 3155695200 century|centuries
area 1 square metre|square metres|square meter|square meters|sq m
area 1000000 square kilometre|square kilometres|square kilometer|square kilometers|sq km|km ²
area 2589988.11 square mile|square miles|sq mi
area 0.09290304 square foot|square feet|sq ft
area 10000 hectare|hectares|ha
area 4046.8564 acre|acres
volume 1 litre|litres|liter|liters|l
volume 0.001 millilitre|millilitres|milliliter|milliliters|ml
volume 3.785411784 gallon|gallons
volume 158.987295 barrel|barrels
volume 1000 cubic metre|cubic metres|cubic meter|cubic meters
speed 1 kilometre per hour|kilometres per hour|kilometers per hour|km / h|kph|kmh|km per hour
speed 1.609344 mile per hour|miles per hour|mph|miles an hour
speed 3.6 metres per second|meters per second|m / s
speed 1.852 knot|knots
power 1 watt|watts|w
power 1000 kilowatt|kilowatts|kw
power 1000000 megawatt|megawatts|mw
power 1000000000 gigawatt|gigawatts|gw
power 745.7 horsepower|hp
energy 1 kilowatt hour|kilowatt hours|kwh
energy 1000 megawatt hours|mwh
data 1 byte|bytes
data 1000 kilobyte|kilobytes|kb
data 1000000 megabyte|megabytes|mb
data 1000000000 gigabyte|gigabytes|gb
data 1000000000000 terabyte|terabytes|tb
frequency 1 hertz|hz
frequency 1000 kilohertz|khz
frequency 1000000 megahertz|mhz
frequency 1000000000 gigahertz|ghz
share 1 percent|%|per cent|pct|percentage point|percentage points
times 1 times|fold|- fold
"""
_TEMPERATURES = (
    (Unit("celsius", "temperature", 1.0), ("° c", "℃", "celsius", "degrees celsius", "degrees c", "degree celsius")),
    (
        Unit("fahrenheit", "temperature", 5 / 9, -160 / 9),
        ("° f", "℉", "fahrenheit", "degrees fahrenheit", "degrees f", "degree fahrenheit"),
    ),
    (Unit("kelvin", "temperature", 1.0, -273.15), ("kelvin", "kelvins")),
)


def _units() -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for line in _TABLE.split("\n"):
        dimension, _, rest = line.partition(" ")
        size, _, names = rest.partition(" ")
        if names:
            spellings = names.split("|")
            units.update({name: Unit(spellings[0], dimension, float(size)) for name in spellings})
    for unit, spellings in _TEMPERATURES:
        units.update(dict.fromkeys(spellings, unit))
    return units


UNITS = _units()
MONEY_SIGNS = {"$": "dollar", "£": "sterling", "€": "euro", "¥": "yen", "₹": "rupee", "₩": "won"}
CURRENCIES = {
    "dollar": "dollar", "dollars": "dollar", "usd": "dollar", "us$": "dollar", "euro": "euro", "euros": "euro",
    "eur": "euro", "sterling": "sterling", "gbp": "sterling", "yen": "yen", "jpy": "yen", "rupee": "rupee",
    "rupees": "rupee", "yuan": "yuan", "franc": "franc", "francs": "franc", "peso": "peso",
    "pesos": "peso", "bucks": "dollar", "cent": "cent", "cents": "cent", "bitcoin": "bitcoin", "rubles": "ruble",
    "roubles": "ruble",
}  # fmt: skip


def dimension(unit: str) -> str:
    """What a unit measures; currencies each their own, as their rates change."""
    known = UNITS.get(unit)
    return known.dimension if known else unit


def base(value: float, unit: str) -> float:
    """A value in its dimension's base unit."""
    known = UNITS.get(unit)
    return value * known.size + known.zero if known else value
