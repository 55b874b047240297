"""Minimal pairs in free wording, for the test: written without the verifier's checks in view."""

from training.challenge_fill import DRUGS, FIRMS, MONTHS, PEOPLE, TOWNS, YEARS, Template

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
_INLAND = ("Brindale", "Norwick", "Quillan", "Marshfield", "Aldercross", "Vellano", "Tessaly", "Ostermark")
_RIVERS = ("Ashel", "Morrin", "Selwater", "Teviss", "Orle", "Brannock", "Lyth")
_SHIPS = ("Amaranth", "Northern Star", "Perseverance", "Marigold", "Halcyon", "Good Intent")
_NOVELS = ("The Salt Road", "A House of Reeds", "Winter Orchard", "The Ninth Bell", "Paper Harbour", "Glass Summer")

TEMPLATES: tuple[Template, ...] = (
    Template(
        name="free-test-storm",
        kind="numbers",
        evidence=(
            "A storm that swept across {town} on Tuesday night tore the roofs off {roofs} homes and left another "
            "{dark} without electricity. The fire brigade was called out {calls} times before dawn, and two roads were "
            "still blocked by fallen trees on Wednesday evening."
        ),
        supported="Strong winds left {roofs} houses in {town} roofless.",
        contradicted="Strong winds left {dark} houses in {town} roofless.",
        nothing="It was the worst storm {town} had been through in {roofs} years.",
        slots={
            "town": TOWNS,
            "roofs dark calls": (
                ("17", "340", "58"),
                ("23", "410", "76"),
                ("31", "260", "64"),
                ("28", "575", "93"),
            ),
        },
    ),
    Template(
        name="free-test-marathon",
        kind="numbers",
        evidence=(
            "{person} came {place} in the {town} marathon on Sunday, a little over four minutes behind the winner. Of "
            "the {field} runners who set out, {gave_up} gave up because of the heat."
        ),
        supported="In the {town} race, {person} was the {short} runner to reach the finish.",
        contradicted="In the {town} race, {person} was the {wrong} runner to reach the finish.",
        nothing="{person} had never run in {town} before the race on Sunday.",
        slots={
            "town": TOWNS,
            "person": PEOPLE,
            "place short wrong": (
                ("seventh", "7th", "5th"),
                ("sixth", "6th", "8th"),
                ("ninth", "9th", "6th"),
                ("twelfth", "12th", "20th"),
                ("fifth", "5th", "15th"),
            ),
            "field gave_up": (("940", "61"), ("1,350", "84"), ("2,210", "137")),
        },
    ),
    Template(
        name="free-test-commuters",
        kind="numbers",
        evidence=(
            "A survey of {asked} commuters in {town} found that {percent} of them drive to work on their own. Another "
            "{bus} go by bus or train, and the average journey takes {time} minutes."
        ),
        supported="Among the commuters questioned in {town}, {share} sits alone in a car on the way to work.",
        contradicted="Among the commuters questioned in {town}, {wrong} sits alone in a car on the way to work.",
        nothing="Among the commuters questioned in {town}, {share} would rather work from home.",
        slots={
            "town": TOWNS,
            "percent share wrong": (
                ("20%", "one in five", "one in three"),
                ("25%", "one in four", "one in two"),
                ("10%", "one in ten", "one in eight"),
                ("12.5%", "one in eight", "one in six"),
            ),
            "bus": ("34%", "38%", "41%"),
            "asked time": (("1,200", "36"), ("800", "28"), ("2,400", "42")),
        },
    ),
    Template(
        name="free-test-shipwreck",
        kind="numbers",
        evidence=(
            "Of the {crew} sailors aboard the {ship}, {drowned} drowned when she ran onto a reef off {town} in {year}. "
            "The others got away in {boats} boats and reached the shore the next morning."
        ),
        supported="The wreck of the {ship} near {town} cost {dead} seamen their lives.",
        contradicted="The wreck of the {ship} near {town} cost {wrong} seamen their lives.",
        nothing="The {ship} was carrying a load of coal when she was wrecked near {town}.",
        slots={
            "ship": _SHIPS,
            "town": TOWNS,
            "year": YEARS,
            "crew drowned dead wrong": (
                ("forty", "twelve", "12", "40"),
                ("thirty", "eleven", "11", "30"),
                ("twenty-six", "fourteen", "14", "26"),
                ("fifty", "nineteen", "19", "50"),
            ),
            "boats": ("two", "three"),
        },
    ),
    Template(
        name="free-test-pump",
        kind="units",
        evidence=(
            "The {model} garden pump delivers {litres} litres of water a minute and lifts it to a height of {height} "
            "metres. It must not be run for longer than {hours} hours at a stretch. If the motor overheats, it "
            "switches itself off for 15 minutes."
        ),
        supported="Every minute, {litres} litres of water go through the {model} when it is running.",
        contradicted="Every hour, {litres} litres of water go through the {model} when it is running.",
        nothing="The {model} can be used to pump salt water.",
        slots={
            "model": ("Rivo", "Hydrel", "Undine", "Torrent", "Aquafer"),
            "litres": ("25", "35", "40", "55", "70"),
            "height hours": (("8", "3"), ("12", "4"), ("9", "6")),
        },
    ),
    Template(
        name="free-test-dose",
        kind="units",
        evidence=(
            "Adults take one {dose}-milligram tablet of {drug} {often} a day, dissolved in about 200 millilitres of "
            "water. Children under twelve are given half a tablet. A packet holds {pack} tablets and must be kept "
            "below 25 degrees."
        ),
        supported="For a grown-up, a single dose of {drug} comes to {dose} milligrams.",
        contradicted="For a grown-up, a single dose of {drug} comes to {dose} grams.",
        nothing="Some grown-ups feel drowsy after a single dose of {drug}.",
        slots={
            "drug": DRUGS,
            "dose": ("50", "100", "150", "250", "400"),
            "often": ("twice", "three times"),
            "pack": ("20", "30", "60"),
        },
    ),
    Template(
        name="free-test-express",
        kind="units",
        evidence=(
            "The new express covers the {distance} kilometres between {start} and {end} in {minutes} minutes, "
            "including a stop of five minutes at {halt}. The slow train, which calls at {stations} stations, needs "
            "{slow} minutes."
        ),
        supported="Going from {start} to {end} on the express takes {hours}.",
        contradicted="Going from {start} to {end} on the express takes {wrong}.",
        nothing="Going from {start} to {end} costs more on the express than on the slow train.",
        slots={
            "start end halt": TOWNS,
            "distance minutes slow hours wrong": (
                ("310", "150", "255", "two and a half hours", "one and a half hours"),
                ("170", "90", "160", "one and a half hours", "two and a half hours"),
                ("260", "135", "240", "two and a quarter hours", "three and a quarter hours"),
                ("370", "180", "325", "three hours", "two hours"),
                ("230", "120", "200", "two hours", "three hours"),
            ),
            "stations": ("14", "17", "22"),
        },
    ),
    Template(
        name="free-test-annual-report",
        kind="units",
        evidence=(
            "{firm} closed the year with a net profit of {profit} million euros on sales of {sales} billion euros. "
            "Debts stood at {debts} million euros at the end of December, and the group employed {staff} people."
        ),
        supported="Once all costs were paid, {firm} had earned {profit} million euros over the year.",
        contradicted="Once all costs were paid, {firm} had earned {profit} billion euros over the year.",
        nothing="{firm} handed {profit} million euros of its earnings to its shareholders.",
        slots={
            "firm": FIRMS,
            "profit": ("46", "58", "73", "87"),
            "sales": ("1.2", "1.9", "2.4"),
            "debts staff": (("310", "4,100"), ("265", "6,800"), ("420", "5,200")),
        },
    ),
    Template(
        name="free-test-lighthouse",
        kind="dates",
        evidence=(
            "Work on the lighthouse at {town} began in {begun}, but money ran out and its lamp was not lit for the "
            "first time until {lit}. The last keeper moved out in {left}, and the light has been run automatically "
            "ever since."
        ),
        supported="The beacon at {town} first shone in {lit}.",
        contradicted="The beacon at {town} first shone in {begun}.",
        nothing="The beacon at {town} is built of granite.",
        slots={
            "town": TOWNS,
            "begun lit left": (
                ("1838", "1846", "1971"),
                ("1851", "1857", "1984"),
                ("1862", "1869", "1978"),
                ("1874", "1883", "1990"),
            ),
        },
    ),
    Template(
        name="free-test-bins",
        kind="dates",
        evidence=(
            "From 1 {month}, household rubbish in {town} will be collected on {new} mornings instead of {old} "
            "afternoons. Glass and paper will go on being taken away every other {glass}."
        ),
        supported="As of {month}, the rubbish lorry will come round in {town} on a {new}.",
        contradicted="As of {month}, the rubbish lorry will come round in {town} on a {wrong}.",
        nothing="As of {month}, people in {town} will have to pay more to have their rubbish taken away.",
        slots={"town": TOWNS, "month": MONTHS, "new old glass wrong": _WEEKDAYS},
    ),
    Template(
        name="free-test-flight",
        kind="dates",
        evidence=(
            "The {airline} flight took off from {start} at {left}, {late} minutes behind schedule, after a faulty "
            "cabin light had been replaced. It touched down in {end} at {landed}."
        ),
        supported="The {airline} plane left the ground in {start} at {spoken} in the afternoon.",
        contradicted="The {airline} plane left the ground in {start} at {wrong} in the afternoon.",
        nothing="Every seat on the {airline} plane from {start} was taken.",
        slots={
            "airline": ("Greyline Air", "Skylark", "Meridian", "Blue Heron"),
            "start end": TOWNS,
            "left landed spoken wrong": (
                ("14:20", "16:05", "twenty past two", "twenty to two"),
                ("13:30", "15:45", "half past one", "half past two"),
                ("15:10", "17:25", "ten past three", "ten past five"),
                ("16:45", "18:30", "a quarter to five", "a quarter past four"),
                ("15:50", "17:35", "ten to four", "ten to three"),
            ),
            "late": ("25", "35", "55"),
        },
    ),
    Template(
        name="free-test-career",
        kind="dates",
        evidence=(
            "{person} read law at the University of {town}, graduated in {degree} and joined {firm} {gap} years after "
            "that. The board appointed {person} chief executive in {chief}."
        ),
        supported="{person} got a law degree before going to work for {firm}.",
        contradicted="{person} got a law degree after going to work for {firm}.",
        nothing="{person} spent some time at a law firm before going to work for {firm}.",
        slots={
            "person": PEOPLE,
            "town": TOWNS,
            "firm": FIRMS,
            "degree chief": (("1984", "2003"), ("1988", "2006"), ("1991", "2009"), ("1996", "2015")),
            "gap": ("two", "three", "four"),
        },
    ),
    Template(
        name="free-test-chess",
        kind="names",
        evidence=(
            "{winner} won the {town} chess cup on Sunday, beating {loser} in the final after six hours of play. In the "
            "semi-final on Friday {winner} had knocked out {third}, who took the title last year."
        ),
        supported="In the title match at {town}, {loser} lost to {winner}.",
        contradicted="In the title match at {town}, {winner} lost to {loser}.",
        nothing="{loser} had already faced {third} at {town} last year.",
        slots={"town": TOWNS, "winner loser third": PEOPLE},
    ),
    Template(
        name="free-test-river",
        kind="names",
        evidence=(
            "The River {river} rises in the hills above {source} and runs north for {length} kilometres. It passes "
            "through {middle}, where it is joined by the {other}, and flows into the sea at {mouth}."
        ),
        supported="It is at {mouth} that the {river} reaches the coast.",
        contradicted="It is at {middle} that the {river} reaches the coast.",
        nothing="It is at {middle} that the {river} most often bursts its banks.",
        slots={
            "river other": _RIVERS,
            "source middle mouth": _INLAND,
            "length": ("84", "112", "137", "95"),
        },
    ),
    Template(
        name="free-test-takeover",
        kind="names",
        evidence=(
            "The shareholders of {target} voted in {month} to sell the whole company to {buyer} for {price} million "
            "euros. An offer from {rival} had been turned down in the spring. The sale has since been completed."
        ),
        supported="The new owner of {target} is {buyer}.",
        contradicted="The new owner of {target} is {wrong}.",
        nothing="The new owner of {target} is going to cut jobs there.",
        slots={
            "target buyer rival wrong": FIRMS,
            "month": ("July", "August", "September", "October", "November"),
            "price": ("140", "260", "385"),
        },
    ),
    Template(
        name="free-test-translation",
        kind="names",
        evidence=(
            "{title}, a novel by {author}, came out in Lisbon in {first}. The only English edition, translated by "
            "{translator}, followed {gap} years later, with a foreword by {critic}."
        ),
        supported="It was {translator} who put {title} into English.",
        contradicted="It was {wrong} who put {title} into English.",
        nothing="It was {translator} who persuaded a publisher to bring out {title} in English.",
        slots={
            "title": _NOVELS,
            "author translator critic wrong": PEOPLE,
            "first": ("1957", "1963", "1974", "1988", "1996"),
            "gap": ("two", "three", "six"),
        },
    ),
    Template(
        name="free-test-custody",
        kind="negation",
        evidence=(
            "The court in {town} refused the prosecutor's request to keep {person} in custody until the trial in "
            "{month}. {person}, who is charged with {crime}, left the building by a side door and was driven home. Two "
            "other people accused in the case remain in prison."
        ),
        supported="{person} has been allowed to go free until the {crime} trial.",
        contradicted="{person} has not been allowed to go free until the {crime} trial.",
        nothing="{person} has admitted the charge of {crime}.",
        slots={
            "town": TOWNS,
            "person": PEOPLE,
            "month": MONTHS,
            "crime": ("fraud", "arson", "theft", "forgery", "smuggling", "bribery"),
        },
    ),
    Template(
        name="free-test-biscuits",
        kind="negation",
        evidence=(
            "Until {year} all biscuits from the {baker} bakery were made with {old}. The recipe was then changed, and "
            "{new} has taken its place in the whole range ever since. The packets still hold 200 grams."
        ),
        supported="The biscuits that {baker} bakes no longer contain any {old}.",
        contradicted="The biscuits that {baker} bakes still contain {old}.",
        nothing="The biscuits that {baker} bakes are sold abroad as well.",
        slots={
            "year": ("2009", "2012", "2015", "2018"),
            "baker": ("Hollis", "Amberley", "Tremaine", "Coppins", "Dunmore"),
            "old new": (
                ("palm oil", "sunflower oil"),
                ("cane sugar", "honey"),
                ("lard", "butter"),
                ("milk powder", "oat powder"),
                ("wheat flour", "rice flour"),
            ),
        },
    ),
    Template(
        name="free-test-summit",
        kind="negation",
        evidence=(
            "{person} set out alone for the summit of {peak} on {day} {month} and stood on it {length} days later. The "
            "two oxygen cylinders in the rucksack, the only ones taken along, were both still sealed on the return to "
            "base camp."
        ),
        supported="{person} got to the top of {peak} without breathing bottled oxygen.",
        contradicted="{person} got to the top of {peak} while breathing bottled oxygen.",
        nothing="{person} was the youngest climber ever to get to the top of {peak}.",
        slots={
            "person": PEOPLE,
            "peak": ("Mount Serrat", "Karun Peak", "Mount Aldine", "Tovil Peak", "Mount Harrow"),
            "day": ("3", "8", "12", "17"),
            "month": ("April", "June", "July", "September"),
            "length": ("four", "five", "six"),
        },
    ),
    Template(
        name="free-test-parade",
        kind="negation",
        evidence=(
            "In spite of heavy rain, the {feast} parade in {town} set off on {day} at three o'clock, an hour later "
            "than planned, and wound its way through the streets to the market square. The fireworks in the evening "
            "were called off, and the concert was moved indoors."
        ),
        supported="The {feast} procession took place in {town} on {day}.",
        contradicted="The {feast} procession did not take place in {town} on {day}.",
        nothing="The {feast} procession drew smaller crowds in {town} than in other years.",
        slots={
            "town": TOWNS,
            "feast": ("harvest", "midsummer", "carnival", "spring"),
            "day": ("Saturday", "Sunday", "Monday"),
        },
    ),
    Template(
        name="free-test-revenue",
        kind="opposites",
        evidence=(
            "The revenue of {firm} {moved} from {before} million euros in the previous year to {now} million euros in "
            "{year}. Over the same twelve months the number of its shops {shops} from {shops_before} to {shops_now}."
        ),
        supported="{firm} took in {more} money in {year} than the year before.",
        contradicted="{firm} took in {less} money in {year} than the year before.",
        nothing="{firm} spent {more} money on advertising in {year} than the year before.",
        slots={
            "firm": ("Norvane", "Brightwell", "Tessera Foods", "Luma Systems", "Halden", "Marlowe Books"),
            "year": ("2012", "2014", "2017", "2019"),
            "moved before now shops shops_before shops_now more less": (
                ("rose", "410", "465", "fell", "93", "88", "more", "less"),
                ("climbed", "285", "340", "dropped", "74", "61", "more", "less"),
                ("fell", "390", "335", "rose", "58", "67", "less", "more"),
                ("dropped", "520", "475", "climbed", "81", "96", "less", "more"),
            ),
        },
    ),
    Template(
        name="free-test-viscosity",
        kind="opposites",
        evidence=(
            "Researchers in {town} warmed samples of {liquid} step by step from 10 to 60 degrees and timed how long "
            "each took to run down a glass slope. With every step the time got shorter, from {slow} seconds for the "
            "coldest sample to {fast} for the warmest."
        ),
        supported="The tests in {town} showed that {liquid} flows faster the hotter it is.",
        contradicted="The tests in {town} showed that {liquid} flows more slowly the hotter it is.",
        nothing="The tests in {town} showed that {liquid} turns darker the hotter it is.",
        slots={
            "town": TOWNS,
            "liquid": ("honey", "maple syrup", "olive oil", "engine oil", "molasses", "glycerine"),
            "slow fast": (("95", "14"), ("120", "18"), ("74", "9")),
        },
    ),
    Template(
        name="free-test-bridges",
        kind="opposites",
        evidence=(
            "Three bridges cross the river at {town}. The {one} Bridge was completed in {y_one}, the {two} Bridge in "
            "{y_two} and the {three} Bridge, which carries the railway, in {y_three}."
        ),
        supported="Of the three crossings at {town}, the {two} Bridge was the {rank} to be finished.",
        contradicted="Of the three crossings at {town}, the {two} Bridge was the {wrong} to be finished.",
        nothing="Of the three crossings at {town}, the {two} Bridge is the one with the most traffic.",
        slots={
            "town": TOWNS,
            "one two three": ("Mill", "Abbey", "Castle", "Weaver", "Queen's", "Harbour"),
            "y_one y_two y_three rank wrong": (
                ("1871", "1834", "1906", "first", "last"),
                ("1884", "1859", "1912", "first", "last"),
                ("1849", "1925", "1893", "last", "first"),
                ("1862", "1938", "1907", "last", "first"),
            ),
        },
    ),
    Template(
        name="free-test-cooker",
        kind="opposites",
        evidence=(
            "To cut off the gas supply of the {brand} cooker, turn the {knob} knob a quarter turn {way}. To open it "
            "again, turn the knob a quarter turn {back}. The {other} knob works the oven clock only."
        ),
        supported="Give the {knob} knob of the {brand} a quarter turn {way} and you shut the gas supply.",
        contradicted="Give the {knob} knob of the {brand} a quarter turn {way} and you open the gas supply.",
        nothing="The gas supply of the {brand} shuts by itself if the flame goes out.",
        slots={
            "brand": ("Vesta", "Calora", "Brasero", "Ember", "Fornello"),
            "knob other": ("red", "black", "blue", "white"),
            "way back": (
                ("clockwise", "anticlockwise"),
                ("anticlockwise", "clockwise"),
                ("to the left", "to the right"),
            ),
        },
    ),
    Template(
        name="free-test-apprentices",
        kind="quantifiers",
        evidence=(
            "Of the {all} apprentices who sat the {trade} exam in {town} in {month}, {passed} passed at the first "
            "attempt. The others were given a second chance five weeks later, and {later} of them succeeded."
        ),
        supported="Half of those who took the {trade} exam in {town} got through first time.",
        contradicted="Most of those who took the {trade} exam in {town} got through first time.",
        nothing="Most of those who took the {trade} exam in {town} had a job waiting for them.",
        slots={
            "town": TOWNS,
            "month": MONTHS,
            "trade": ("plumbing", "carpentry", "welding", "masonry"),
            "all passed later": (("24", "12", "9"), ("36", "18", "11"), ("28", "14", "8"), ("42", "21", "16")),
        },
    ),
    Template(
        name="free-test-housing",
        kind="quantifiers",
        evidence=(
            "Flats in {house} are let only to people who have lived in {town} for at least {years} years. Tenants may "
            "keep at most {pets} pets, and the rent is reviewed every {review} months."
        ),
        supported="To get a flat in {house}, you need to have been living in {town} for no less than {years} years.",
        contradicted="To get a flat in {house}, you need to have been living in {town} for no more than {years} years.",
        nothing="To get a flat in {house}, you need to have been on the waiting list for no less than {years} years.",
        slots={
            "house": ("Larch Court", "Weavers' House", "Sutton Place", "Orchard Court"),
            "town": TOWNS,
            "years": ("three", "five", "seven", "ten"),
            "pets review": (("two", "18"), ("two", "24"), ("four", "12")),
        },
    ),
    Template(
        name="free-test-gates",
        kind="quantifiers",
        evidence=(
            "The {building} in {town} has {gates} gates. Visitors in wheelchairs can come in by the {side} gate, which "
            "was given a ramp in {year}; the other {rest} can be reached only by flights of steep steps."
        ),
        supported="Only one of the ways into the {building} in {town} is fit for wheelchairs.",
        contradicted="Every one of the ways into the {building} in {town} is fit for wheelchairs.",
        nothing="Only one of the ways into the {building} in {town} is open in winter.",
        slots={
            "building": ("castle", "abbey", "fortress", "palace"),
            "town": TOWNS,
            "gates rest": (("three", "two"), ("four", "three"), ("five", "four")),
            "side": ("north", "south", "east", "west"),
            "year": ("1996", "2003", "2011"),
        },
    ),
    Template(
        name="free-test-wells",
        kind="quantifiers",
        evidence=(
            "In {month}, inspectors took water from {wells} wells around {town}. The {pollutant} level was above the "
            "legal limit in each of the samples, and in {worst} of them it was more than twice as high as allowed."
        ),
        supported="None of the wells checked near {town} kept within the limit for {pollutant}.",
        contradicted="Some of the wells checked near {town} kept within the limit for {pollutant}.",
        nothing="None of the wells checked near {town} is used for drinking water.",
        slots={
            "town": TOWNS,
            "month": MONTHS,
            "wells worst": (("six", "two"), ("eight", "three"), ("nine", "four"), ("twelve", "five")),
            "pollutant": ("nitrate", "arsenic", "lead", "fluoride"),
        },
    ),
)
