"""Minimal pairs in close wording, for the test: written without the verifier's checks in view."""

from training.challenge_fill import COUNTRIES, DRUGS, FIRMS, MONTHS, PEOPLE, TOWNS, Template

_NUMBERS: tuple[Template, ...] = (
    Template(
        name="close-test-numbers-ferry",
        kind="numbers",
        evidence=(
            "In summer the ferry between {a} and {b} makes {n} crossings a week, and in July alone it carries some {x} "
            "passengers. In winter it makes only {m} crossings a week, as one of the two ships is laid up. A crew of "
            "{k} looks after both ships."
        ),
        supported="In winter the ferry between {a} and {b} makes {m} crossings a week.",
        contradicted="In winter the ferry between {a} and {b} makes {n} crossings a week.",
        nothing="The ferry between {a} and {b} takes {t} minutes for a crossing.",
        slots={
            "a b": TOWNS,
            "n": ("42", "48", "56", "63", "70"),
            "m": ("12", "14", "18", "21", "28"),
            "x": ("6,500", "8,200", "9,400", "11,300"),
            "k": ("19", "24", "31"),
            "t": ("25", "35", "40", "50"),
        },
    ),
    Template(
        name="close-test-numbers-revenue-share",
        kind="numbers",
        evidence=(
            "{firm} closed the year with revenue of {r} million dollars. The packaging division accounted for {p} "
            "percent of it and the services division for {q} percent. At the end of December the company had {e} "
            "employees at {k} sites."
        ),
        supported="The packaging division accounted for {p} percent of the revenue of {firm}.",
        contradicted="The packaging division accounted for {w} percent of the revenue of {firm}.",
        nothing="The packaging division of {firm} made a profit of {v} million dollars.",
        slots={
            "firm": FIRMS,
            "p q w": ("17", "22", "26", "29", "34", "37", "43"),
            "r": ("640", "715", "880", "960"),
            "e": ("1,240", "1,860", "2,310", "3,050"),
            "k": ("four", "six", "nine"),
            "v": ("8", "11", "13"),
        },
    ),
    Template(
        name="close-test-numbers-stage-place",
        kind="numbers",
        evidence=(
            "{rider} came {o1} in the opening time trial and {o2} in the mountain stage, in spite of a fall on the "
            "last descent. {other}, who rides for the same team, came {o3} in the mountain stage. The race covers {d} "
            "kilometres over six days."
        ),
        supported="{rider} came {o2} in the mountain stage.",
        contradicted="{rider} came {o1} in the mountain stage.",
        nothing="{rider} came {o4} in the same race the year before.",
        slots={
            "rider other": PEOPLE,
            "o1 o2 o3 o4": (
                "second",
                "third",
                "fourth",
                "fifth",
                "seventh",
                "eighth",
                "ninth",
                "eleventh",
                "twelfth",
                "sixteenth",
            ),
            "d": ("780", "845", "910", "1,020"),
        },
    ),
    Template(
        name="close-test-numbers-graves",
        kind="numbers",
        evidence=(
            "Archaeologists have uncovered {word} graves beneath the floor of the old chapel at {town}. The dig, which "
            "lasted nine weeks, also brought to light a well and some forty pieces of glass. The finds will be shown "
            "in two rooms of the museum in {other} from {month}."
        ),
        supported="Archaeologists have uncovered {digits} graves beneath the floor of the old chapel at {town}.",
        contradicted="Archaeologists have uncovered {wrong} graves beneath the floor of the old chapel at {town}.",
        nothing="The graves beneath the floor of the old chapel at {town} date from the {century} century.",
        slots={
            "town other": TOWNS,
            "word digits wrong": (
                ("eleven", "11", "14"),
                ("twelve", "12", "20"),
                ("thirteen", "13", "30"),
                ("sixteen", "16", "15"),
                ("seventeen", "17", "27"),
                ("twenty-three", "23", "32"),
                ("twenty-six", "26", "24"),
            ),
            "month": MONTHS,
            "century": ("11th", "12th", "13th", "14th"),
        },
    ),
)

_UNITS: tuple[Template, ...] = (
    Template(
        name="close-test-units-mower",
        kind="units",
        evidence=(
            "The {model} cordless mower weighs {w} kilograms and cuts for {h} hours on a full battery. Let the motor "
            "cool for {m} minutes before you clean the blade. The guarantee on the battery runs for 5 years."
        ),
        supported="The {model} cordless mower cuts for {h} hours on a full battery.",
        contradicted="The {model} cordless mower cuts for {h} minutes on a full battery.",
        nothing="The battery of the {model} cordless mower takes {c} hours to charge.",
        slots={
            "model": ("GreenCut 40", "Lawnmaster S", "Hedron 210", "Tallow X2", "Meadow Pro", "Swath 18"),
            "h c": ("2", "3", "4", "6"),
            "w": ("11", "14", "17", "19"),
            "m": ("15", "20", "30", "45"),
        },
    ),
    Template(
        name="close-test-units-lake-length",
        kind="units",
        evidence=(
            "Lake {lake} lies {alt} metres above sea level, in a valley shaped by glaciers. It is {km} kilometres long "
            "and, at its deepest point, {deep} metres deep. In cold winters the ice on it grows to {ice} centimetres."
        ),
        supported="Lake {lake} is {right} metres long.",
        contradicted="Lake {lake} is {wrong} metres long.",
        nothing="Lake {lake} is {v} metres wide at its broadest point.",
        slots={
            "lake": ("Ternavik", "Orsel", "Hallen", "Miravel", "Dunmore", "Skarra", "Bellano"),
            "km right wrong": (
                ("3", "3,000", "300"),
                ("4.5", "4,500", "450"),
                ("6.2", "6,200", "620"),
                ("7", "7,000", "70,000"),
                ("9", "9,000", "900"),
                ("12", "12,000", "1,200"),
            ),
            "alt": ("985", "1,140", "1,430", "1,675"),
            "deep": ("38", "47", "64", "81"),
            "ice": ("40", "55", "60"),
            "v": ("560", "740", "820"),
        },
    ),
    Template(
        name="close-test-units-dose",
        kind="units",
        evidence=(
            "Adults take {n} milligrams of {drug} twice a day, with a glass of water. Children under twelve are given "
            "the syrup instead; one spoonful of 5 millilitres holds {k} milligrams. Keep both in a dry place, below 25 "
            "degrees."
        ),
        supported="Adults take {n} milligrams of {drug} twice a day.",
        contradicted="Adults take {n} grams of {drug} twice a day.",
        nothing="Adults take {drug} for {d} days at most.",
        slots={
            "drug": DRUGS,
            "n": ("20", "30", "40", "60", "80"),
            "k": ("4", "8", "12"),
            "d": ("7", "10", "14"),
        },
    ),
    Template(
        name="close-test-units-flour",
        kind="units",
        evidence=(
            "The mill at {town} turns out {n} tonnes of flour a day and {k} tonnes of animal feed a week. Its {s} "
            "silos hold {g} tonnes of grain, most of which arrives by rail. {person} has managed it for {y} years."
        ),
        supported="{n} tonnes of flour a day are turned out by the mill at {town}.",
        contradicted="{n} tonnes of flour a week are turned out by the mill at {town}.",
        nothing="The mill at {town} uses {v} tonnes of coal a month.",
        slots={
            "town": TOWNS,
            "person": PEOPLE,
            "n": ("110", "125", "140", "165", "180"),
            "k": ("35", "45", "60", "75"),
            "s": ("six", "eight", "ten"),
            "g": ("5,200", "6,400", "7,800"),
            "y": ("3", "7", "12"),
            "v": ("22", "26", "32"),
        },
    ),
)

_DATES: tuple[Template, ...] = (
    Template(
        name="close-test-dates-lighthouse",
        kind="dates",
        evidence=(
            "The lighthouse at {town} was lit for the first time in {y1} and received electric light in {y2}. It was "
            "automated in {y3}, when {person}, the last keeper, retired. Since {y4} the keeper's house has been a "
            "museum."
        ),
        supported="The lighthouse at {town} was automated in {y3}.",
        contradicted="The lighthouse at {town} was automated in {y2}.",
        nothing="The lighthouse at {town} was damaged by a storm in {y5}.",
        slots={
            "town": TOWNS,
            "person": PEOPLE,
            "y1 y2 y3 y4 y5": (
                ("1852", "1911", "1968", "1981", "1936"),
                ("1867", "1924", "1973", "1990", "1947"),
                ("1879", "1919", "1982", "1995", "1958"),
                ("1884", "1931", "1985", "2002", "1953"),
                ("1891", "1928", "1976", "1988", "1962"),
            ),
        },
    ),
    Template(
        name="close-test-dates-paper-collection",
        kind="dates",
        evidence=(
            "In {district}, household waste is collected every {d1} and paper once a week, on {d2}. The bins have to "
            "stand at the kerb by 6 am. Garden waste can be taken to the depot on {street} on Saturday between 9 am "
            "and 1 pm."
        ),
        supported="In {district}, paper is collected once a week, on {d2}.",
        contradicted="In {district}, paper is collected once a week, on {d3}.",
        nothing="In {district}, old clothes are collected once a month, on {d3}.",
        slots={
            "district": ("Eastgate", "Millfields", "Upper Warren", "Saltmarsh", "Kingsholm", "Larkhill"),
            "d1 d2 d3": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"),
            "street": ("Quarry Road", "Canal Street", "Harbour Lane"),
        },
    ),
    Template(
        name="close-test-dates-council-vote",
        kind="dates",
        evidence=(
            "The town council of {town} approved the new {thing} on {day} {month}, {n} days before {a} resigned as "
            "mayor. Building is to begin in {year} and to take two years. {b}, who drew up the plans, had presented "
            "them to the public at three meetings."
        ),
        supported="The town council of {town} approved the new {thing} {n} days before {a} resigned as mayor.",
        contradicted="The town council of {town} approved the new {thing} {n} days after {a} resigned as mayor.",
        nothing="The town council of {town} approved the new {thing} {n} days before a general election.",
        slots={
            "town": TOWNS,
            "a b": PEOPLE,
            "thing": ("bus station", "sports hall", "fire station", "footbridge", "market hall", "library"),
            "day": ("3", "7", "12", "18"),
            "n": ("five", "six", "nine", "ten"),
            "month": MONTHS,
            "year": ("2024", "2025", "2026"),
        },
    ),
    Template(
        name="close-test-dates-night-train",
        kind="dates",
        evidence=(
            "The night train leaves {a} at {t1} and stops in {b} at {t2} to take on a dining car. It arrives in {c} at "
            "{t3}. Coaches to the coast wait outside the station there until {t4}."
        ),
        supported="The night train from {a} arrives in {c} at {t3}.",
        contradicted="The night train from {a} arrives in {c} at {t4}.",
        nothing="The day train from {a} arrives in {c} at {t5}.",
        slots={
            "a b c": TOWNS,
            "t1 t2 t3 t4 t5": (
                ("20:50", "22:35", "05:40", "06:15", "13:25"),
                ("21:15", "23:05", "06:10", "06:45", "14:20"),
                ("21:40", "23:55", "06:35", "07:20", "15:55"),
                ("22:05", "00:20", "07:05", "07:50", "16:30"),
                ("22:30", "01:10", "07:45", "08:25", "17:05"),
            ),
        },
    ),
)

_NAMES: tuple[Template, ...] = (
    Template(
        name="close-test-names-badminton-final",
        kind="names",
        evidence=(
            "{a} beat {b} in the final of the {town} Open, a badminton tournament, by two games to one. In the "
            "semi-finals {b} had beaten {c}, the top seed, and {a} had come through against {d}."
        ),
        supported="{a} beat {b} in the final of the {town} Open.",
        contradicted="{b} beat {a} in the final of the {town} Open.",
        nothing="{a} had also won the {town} Open the year before.",
        slots={"a b c d": PEOPLE, "town": TOWNS},
    ),
    Template(
        name="close-test-names-translator",
        kind="names",
        evidence=(
            "The novel {title} was written by {a} and translated into English by {b}. It first appeared in {country}, "
            "with a cover drawn by {c}. The English edition followed two years later and was published by {firm}."
        ),
        supported="The novel {title} was translated into English by {b}.",
        contradicted="The novel {title} was translated into English by {d}.",
        nothing="The novel {title} was translated into Japanese by {d}.",
        slots={
            "title": ("The Salt Road", "Winter Orchard", "A House of Bells", "The Ninth Tide", "Under the Limes"),
            "a b c d": PEOPLE,
            "country": COUNTRIES,
            "firm": ("Corvid Press", "Lantern Books", "Hartnell & Sons", "Blue Door"),
        },
    ),
    Template(
        name="close-test-names-freighter",
        kind="names",
        evidence=(
            "The freighter {ship} was built in {a} in {year}. On a voyage from {b} to {c} it lost its rudder in heavy "
            "seas, and a tug from {d} reached it the same night. It was towed to {e} for repairs."
        ),
        supported="The freighter {ship} was towed to {e} for repairs.",
        contradicted="The freighter {ship} was towed to {d} for repairs.",
        nothing="The freighter {ship} was carrying {cargo} for a merchant in {d}.",
        slots={
            "ship": ("Aurelia", "Baltic Star", "Mary Hannah", "Cape Dorn", "Isolde", "Northern Light"),
            "a b c d e": TOWNS,
            "year": ("1978", "1986", "1994", "2001"),
            "cargo": ("timber", "cement", "barley", "scrap iron"),
        },
    ),
    Template(
        name="close-test-names-satellite",
        kind="names",
        evidence=(
            "The weather satellite {sat} was built by {f1}, while {f2} supplied its infrared camera. Its pictures are "
            "received by a station near {town}, which is run by {f3}. The satellite is expected to work for {n} years."
        ),
        supported="{f2} supplied the infrared camera of the weather satellite {sat}.",
        contradicted="{f4} supplied the infrared camera of the weather satellite {sat}.",
        nothing="{f4} insured the launch of the weather satellite {sat}.",
        slots={
            "sat": ("Nimbra 2", "Skywatch", "Cirrus 7", "Tempora"),
            "f1 f2 f3 f4": (
                "Arkon Optics",
                "Delsey Aerospace",
                "Lumera",
                "Vantor Instruments",
                "Orbitec",
                "Halden Electronics",
                "Stratos",
            ),
            "town": TOWNS,
            "n": ("eight", "ten", "twelve"),
        },
    ),
)

_NEGATION: tuple[Template, ...] = (
    Template(
        name="close-test-negation-post-office",
        kind="negation",
        evidence=(
            "The post office in {town} moved into the former bakery on the square in {year}. It still {s1}, but it no "
            "longer {s2}. {person}, who runs it, says that the work was too much for a staff of three."
        ),
        supported="The post office in {town} no longer {s2}.",
        contradicted="The post office in {town} still {s2}.",
        nothing="The post office in {town} no longer {s3}.",
        slots={
            "town": TOWNS,
            "person": PEOPLE,
            "year": ("2009", "2013", "2017", "2020"),
            "s1 s2 s3": (
                "sells fishing licences",
                "changes foreign money",
                "pays out pensions",
                "accepts parcels for abroad",
                "takes passport photographs",
                "issues bus passes",
            ),
        },
    ),
    Template(
        name="close-test-negation-probe",
        kind="negation",
        evidence=(
            "On its {nth} flight past Saturn, the probe {probe} photographed the moon {m1} from a distance of {n} "
            "kilometres. It failed to photograph the moon {m2}, because a filter wheel had jammed {h} hours before. "
            "The signals took more than an hour to reach the Earth."
        ),
        supported="On its {nth} flight past Saturn, the probe {probe} photographed the moon {m1}.",
        contradicted="On its {nth} flight past Saturn, the probe {probe} failed to photograph the moon {m1}.",
        nothing="On its {nth} flight past Saturn, the probe {probe} measured the temperature of the moon {m1}.",
        slots={
            "nth": ("second", "third", "fourth"),
            "probe": ("Calyx", "Pathways", "Meridian", "Argo 3"),
            "m1 m2": ("Mimas", "Tethys", "Dione", "Rhea", "Iapetus", "Phoebe"),
            "n": ("1,900", "4,200", "8,600", "12,500"),
            "h": ("three", "five", "eleven"),
        },
    ),
    Template(
        name="close-test-negation-hospital-stay",
        kind="negation",
        evidence=(
            "In a trial with {n} patients who had {illness}, {drug} lowered the fever within two days and eased the "
            "cough. It did not shorten the stay in hospital, which came to {d} days on average both with {drug} and "
            "with the placebo. About one patient in {k} reported nausea."
        ),
        supported="In the trial with {n} patients, {drug} did not shorten the stay in hospital.",
        contradicted="In the trial with {n} patients, {drug} shortened the stay in hospital.",
        nothing="In the trial with {n} patients, {drug} did not raise the blood pressure.",
        slots={
            "n": ("184", "212", "260", "348", "415"),
            "illness": ("pneumonia", "influenza", "bronchitis"),
            "drug": DRUGS,
            "d": ("six", "seven", "nine"),
            "k": ("twelve", "fifteen", "twenty"),
        },
    ),
    Template(
        name="close-test-negation-court-costs",
        kind="negation",
        evidence=(
            "The regional court in {town} dismissed the claim of {a} against {firm} and held that the lease had ended "
            "in {month}. It ordered {a} to pay the costs of both sides, which come to {n} euros. {b}, who presided, "
            "allowed an appeal within {d} days."
        ),
        supported="The regional court in {town} ordered {a} to pay the costs of both sides.",
        contradicted="The regional court in {town} did not order {a} to pay the costs of both sides.",
        nothing="The regional court in {town} did not hear any witnesses.",
        slots={
            "town": TOWNS,
            "a b": PEOPLE,
            "firm": FIRMS,
            "month": MONTHS,
            "n": ("4,300", "6,150", "7,900", "9,200"),
            "d": ("14", "21", "30"),
        },
    ),
)

_OPPOSITES: tuple[Template, ...] = (
    Template(
        name="close-test-opposites-exports",
        kind="opposites",
        evidence=(
            "Exports of {x} from {country} rose by {p} percent in {year}, helped by a weak currency. Exports of {z} "
            "fell by {q} percent in the same year, and two of the largest producers shut plants. The trade ministry "
            "employs {k} inspectors at the borders."
        ),
        supported="Exports of {z} from {country} fell by {q} percent in {year}.",
        contradicted="Exports of {z} from {country} rose by {q} percent in {year}.",
        nothing="Imports of {z} into {country} fell by {q} percent in {year}.",
        slots={
            "x z": ("timber", "paper", "cement", "leather", "glass", "sugar"),
            "country": COUNTRIES,
            "p q": ("4", "6", "9", "11", "13", "16"),
            "year": ("2012", "2015", "2018", "2021"),
            "k": ("240", "310", "420"),
        },
    ),
    Template(
        name="close-test-opposites-river-gate",
        kind="opposites",
        evidence=(
            "The botanical garden in {town} can be entered through the river gate or from {street}. From {m1} to {m2} "
            "the river gate is closed on {day}, and visitors have to walk round to the other side. A ticket costs {n} "
            "euros and is valid for the whole day."
        ),
        supported="From {m1} to {m2} the river gate of the botanical garden in {town} is closed on {day}.",
        contradicted="From {m1} to {m2} the river gate of the botanical garden in {town} is open on {day}.",
        nothing="From {m1} to {m2} the palm house of the botanical garden in {town} is closed on {day}.",
        slots={
            "town": TOWNS,
            "street": ("Linden Street", "Castle Road", "the market square", "Abbey Lane"),
            "m1 m2": (
                ("October", "March"),
                ("November", "February"),
                ("November", "April"),
                ("December", "March"),
            ),
            "day": ("Sundays", "Mondays", "Tuesdays", "Wednesdays"),
            "n": ("5", "7", "9"),
        },
    ),
    Template(
        name="close-test-opposites-song-contest",
        kind="opposites",
        evidence=(
            "{n} singers took part in the song contest in {town}, which was held in the old {hall}. {a} was the first "
            "to perform and {b} the last. The jury gave the prize to {c}, whose song had been written by a neighbour."
        ),
        supported="{b} was the last to perform in the song contest in {town}.",
        contradicted="{b} was the first to perform in the song contest in {town}.",
        nothing="{b} was the oldest singer to perform in the song contest in {town}.",
        slots={
            "n": ("Nine", "Eleven", "Fourteen", "Sixteen", "Twenty"),
            "town": TOWNS,
            "hall": ("corn exchange", "railway shed", "town hall", "brewery"),
            "a b c": PEOPLE,
        },
    ),
    Template(
        name="close-test-opposites-weir",
        kind="opposites",
        evidence=(
            "The old weir on the {river} lies {n} kilometres upstream of {town}. It was built in {y1} to feed a canal "
            "on the left bank, and {m} metres of it were renewed in {y2}, following a flood. The canal has been dry "
            "for decades."
        ),
        supported="The old weir on the {river} lies {n} kilometres upstream of {town}.",
        contradicted="The old weir on the {river} lies {n} kilometres downstream of {town}.",
        nothing="The old weir on the {river} was given a fish ladder in {y3}.",
        slots={
            "river": ("Arden", "Tolve", "Merse", "Olwen", "Sabra"),
            "town": TOWNS,
            "n": ("three", "four", "seven", "nine"),
            "m": ("15", "22", "30"),
            "y1 y2 y3": (
                ("1788", "1893", "1924"),
                ("1803", "1911", "1937"),
                ("1821", "1926", "1951"),
                ("1836", "1909", "1962"),
            ),
        },
    ),
)

_QUANTIFIERS: tuple[Template, ...] = (
    Template(
        name="close-test-quantifiers-course",
        kind="quantifiers",
        evidence=(
            "All of the teachers at the primary school in {town} attended the {course} course in {month}. Only some of "
            "the kitchen staff attended it, as lunch had to be served as usual. The course was given by {person} and "
            "ended with a short test."
        ),
        supported="All of the teachers at the primary school in {town} attended the {course} course.",
        contradicted="Only some of the teachers at the primary school in {town} attended the {course} course.",
        nothing="All of the teachers at the primary school in {town} passed the test of the {course} course.",
        slots={
            "town": TOWNS,
            "course": ("first-aid", "fire-safety", "road-safety", "food-hygiene"),
            "month": MONTHS,
            "person": PEOPLE,
        },
    ),
    Template(
        name="close-test-quantifiers-heating",
        kind="quantifiers",
        evidence=(
            "Most of the {n} households surveyed in {town} heat their homes with {fuel}. A third own a car, and nearly "
            "all are connected to the sewers. The survey was carried out by {person} in {month}."
        ),
        supported="Most of the households surveyed in {town} heat their homes with {fuel}.",
        contradicted="Fewer than half of the households surveyed in {town} heat their homes with {fuel}.",
        nothing="Most of the households surveyed in {town} rent their homes.",
        slots={
            "n": ("420", "510", "660", "840"),
            "town": TOWNS,
            "fuel": ("gas", "wood", "oil", "electricity"),
            "person": PEOPLE,
            "month": MONTHS,
        },
    ),
    Template(
        name="close-test-quantifiers-salt-mine",
        kind="quantifiers",
        evidence=(
            "Group tickets for the salt mine at {town} are sold to parties of at least {n} people, and there is no "
            "upper limit. The lift carries at most {m} people, so large parties go down in turns. Below ground it is "
            "{t} degrees all year round."
        ),
        supported="Group tickets for the salt mine at {town} are sold to parties of at least {n} people.",
        contradicted="Group tickets for the salt mine at {town} are sold to parties of at most {n} people.",
        nothing="Guided tours of the salt mine at {town} last at least {v} minutes.",
        slots={
            "town": TOWNS,
            "n": ("12", "15", "18", "20", "25"),
            "m": ("8", "14", "16"),
            "t": ("9", "10", "11"),
            "v": ("50", "70", "90"),
        },
    ),
    Template(
        name="close-test-quantifiers-water-samples",
        kind="quantifiers",
        evidence=(
            "None of the {n} water samples taken in {town} in {month} contained {s1}. Half of them held more nitrate "
            "than in the year before, though every value stayed within the legal limit. The health office will take "
            "new samples in {w} weeks."
        ),
        supported="None of the water samples taken in {town} in {month} contained {s1}.",
        contradicted="Some of the water samples taken in {town} in {month} contained {s1}.",
        nothing="Some of the water samples taken in {town} in {month} contained {s2}.",
        slots={
            "n": ("24", "30", "36", "48"),
            "town": TOWNS,
            "month": MONTHS,
            "s1 s2": ("lead", "arsenic", "mercury", "cadmium", "benzene", "chloroform"),
            "w": ("six", "eight", "ten"),
        },
    ),
)

TEMPLATES: tuple[Template, ...] = (
    *_NUMBERS,
    *_UNITS,
    *_DATES,
    *_NAMES,
    *_NEGATION,
    *_OPPOSITES,
    *_QUANTIFIERS,
)
