"""The challenge set's templates for development: checks may be tuned on these."""

from training.challenge_fill import CLUBS, COUNTRIES, COUNTS, DRUGS, FIRMS, MONTHS, PEOPLE, TOWNS, YEARS, Template

TEMPLATES = (
    Template(
        name="town-census",
        kind="numbers",
        evidence="{town} lies on the northern coast. At the last census it counted {n} inhabitants, and about "
        "{f} fishing boats are registered in its harbour. Tourism has grown in recent years.",
        supported="Around {r} people live in {town}.",
        contradicted="Around {s} people live in {town}.",
        nothing="About {r} tourists visit {town} each summer.",
        slots={
            "town": TOWNS,
            "f": COUNTS,
            "n r s": [
                ("21,480", "21,000", "48,000"),
                ("34,912", "35,000", "53,000"),
                ("8,034", "eight thousand", "three thousand"),
                ("112,600", "113,000", "211,000"),
                ("5,970", "6,000", "16,000"),
                ("67,250", "67,000", "76,000"),
                ("1,204,000", "1.2 million", "2.1 million"),
                ("402,318", "400,000", "700,000"),
            ],
        },
    ),
    Template(
        name="quarter-revenue",
        kind="numbers",
        evidence="{firm} published its figures for the third quarter on Thursday. Revenue came to ${a} million, "
        "against ${b} million a year before, while the number of employees stayed at {c} hundred.",
        supported="In the third quarter {firm} took in ${a}m.",
        contradicted="In the third quarter {firm} took in ${d}m.",
        nothing="{firm} paid its shareholders ${a}m in dividends.",
        slots={
            "firm": FIRMS,
            "a b d": ("214", "187", "95", "362", "140", "78.5", "451", "603"),
            "c": ("12", "31", "9", "45"),
        },
    ),
    Template(
        name="match-goals",
        kind="numbers",
        evidence="{one} beat {two} in the cup on Saturday. {who} scored {a} of the goals for the winners. The "
        "referee showed {b} yellow cards, and {n} thousand spectators watched.",
        supported="{who} found the net {aw} times in the match between {one} and {two}.",
        contradicted="{who} found the net {bw} times in the match between {one} and {two}.",
        nothing="{who} has scored {aw} goals for the national team.",
        slots={
            "one two": CLUBS,
            "who": PEOPLE,
            "n": COUNTS,
            "a aw b bw": [
                ("two", "2", "five", "5"),
                ("three", "3", "six", "6"),
                ("four", "4", "two", "2"),
                ("five", "5", "three", "3"),
                ("two", "2", "seven", "7"),
                ("three", "3", "four", "4"),
            ],
        },
    ),
    Template(
        name="trial-share",
        kind="numbers",
        evidence="The trial of {drug} enrolled {n} adults with migraine. Headaches stopped within two hours in "
        "{p}% of those who took it, compared with {q}% in the placebo group. Dizziness was the most "
        "common side effect.",
        supported="{drug} ended the headache within two hours for {pw} of the patients who were given it.",
        contradicted="{drug} ended the headache within two hours for {qw} of the patients who were given it.",
        nothing="After a year, {pw} of the patients were still free of headaches.",
        slots={
            "drug": [(name.capitalize(),) for name in DRUGS],
            "n": ("412", "655", "238", "1,090"),
            "p pw q qw": [
                ("50", "half", "25", "a quarter"),
                ("60", "60 percent", "22", "22 percent"),
                ("75", "three quarters", "20", "one fifth"),
                ("48", "48 per cent", "19", "19 per cent"),
                ("40", "two fifths", "20", "one in five"),
                ("66", "66 percent", "31", "31 percent"),
            ],
        },
    ),
    Template(
        name="river-length",
        kind="units",
        evidence="The river rises in the hills of {land} and runs for {km} kilometres before it reaches the sea "
        "near {town}. Its basin is home to otters and herons.",
        supported="From its source in {land} the river is roughly {mi} miles long.",
        contradicted="From its source in {land} the river is roughly {km} miles long.",
        nothing="The river is up to {m} metres deep near {town}.",
        slots={
            "land": COUNTRIES,
            "town": TOWNS,
            "m": ("12", "9", "17"),
            "km mi": [
                ("161", "100"),
                ("322", "200"),
                ("80", "50"),
                ("483", "300"),
                ("241", "150"),
                ("129", "80"),
                ("644", "400"),
                ("97", "60"),
            ],
        },
    ),
    Template(
        name="crossing-time",
        kind="units",
        evidence="Ferries leave {town} four times a day. The crossing takes {h} hours in calm weather, and "
        "tickets can be bought on board.",
        supported="On a calm day passengers from {town} spend {m} minutes on the water.",
        contradicted="On a calm day passengers from {town} spend {h} minutes on the water.",
        nothing="A return ticket from {town} costs {m} euros.",
        slots={
            "town": TOWNS,
            "h m": [
                ("1.5", "90"),
                ("2", "120"),
                ("2.5", "150"),
                ("3", "180"),
                ("4", "240"),
                ("3.5", "210"),
                ("0.75", "45"),
                ("1.25", "75"),
            ],
        },
    ),
    Template(
        name="dose-mass",
        kind="units",
        evidence="Adults should take {drug} once a day with food. The usual dose is {g} milligrams; in children "
        "it is halved. It should be kept below 25 °C.",
        supported="A grown-up normally takes {mg} g of {drug} per day.",
        contradicted="A grown-up normally takes {g} g of {drug} per day.",
        nothing="{g} mg of {drug} every day is safe during pregnancy.",
        slots={
            "drug": DRUGS,
            "g mg": [
                ("500", "0.5"),
                ("250", "0.25"),
                ("1500", "1.5"),
                ("750", "0.75"),
                ("2000", "2"),
                ("400", "0.4"),
                ("1200", "1.2"),
                ("800", "0.8"),
            ],
        },
    ),
    Template(
        name="furnace-heat",
        kind="units",
        evidence="{firm} has made bottles in {town} for generations. Sand arrives by barge. At the plant, glass "
        "leaves the furnace at {c} degrees Celsius. It is then cooled slowly over {n} hours so that it "
        "does not crack. Broken bottles are melted again.",
        supported="The glass is about {f} degrees Fahrenheit as it comes out of the furnace in {town}.",
        contradicted="The glass is about {c} degrees Fahrenheit as it comes out of the furnace in {town}.",
        nothing="The plant in {town} makes {n} tonnes of glass a day.",
        slots={
            "firm": FIRMS,
            "town": TOWNS,
            "n": COUNTS,
            "c f": [
                ("1000", "1832"),
                ("1100", "2012"),
                ("900", "1652"),
                ("1200", "2192"),
                ("950", "1742"),
                ("1050", "1922"),
            ],
        },
    ),
    Template(
        name="bridge-opening",
        kind="dates",
        evidence="Work on the bridge at {town} began in {y} after a long dispute over its cost. It was opened to "
        "traffic on {d} {m} {z} by the mayor, {who}.",
        supported="Cars could use the bridge at {town} from {m} {z}.",
        contradicted="Cars could use the bridge at {town} from {n} {z}.",
        nothing="The bridge at {town} was repainted in {m} {z}.",
        slots={
            "town": TOWNS,
            "who": PEOPLE,
            "m n": MONTHS,
            "d": ("3", "9", "14", "21", "27"),
            "y z": [
                ("1871", "1876"),
                ("1903", "1909"),
                ("1928", "1931"),
                ("1955", "1961"),
                ("1974", "1979"),
                ("1988", "1993"),
            ],
        },
    ),
    Template(
        name="painter-life",
        kind="dates",
        evidence="{who} (born {b}, died {d}) was a painter from {land}. The first exhibition, held in {e}, was "
        "ignored by the press. Some of the later landscapes hang in museums today.",
        supported="The painter {who} passed away in {d}.",
        contradicted="The painter {who} passed away in {e}.",
        nothing="{who} married in {e}.",
        slots={
            "who": PEOPLE,
            "land": COUNTRIES,
            "b d e": [
                ("1834", "1901", "1862"),
                ("1850", "1919", "1881"),
                ("1867", "1938", "1895"),
                ("1879", "1952", "1907"),
                ("1891", "1970", "1923"),
                ("1906", "1984", "1935"),
                ("1842", "1911", "1870"),
                ("1858", "1926", "1884"),
            ],
        },
    ),
    Template(
        name="law-decade",
        kind="dates",
        evidence="For decades, shops in {land} had to close on Sundays. Parliament lifted the rule in {y}, by a "
        "narrow vote. Small grocers had asked for it to be kept.",
        supported="Sunday opening was permitted in {land} in the {s}.",
        contradicted="Sunday opening was permitted in {land} in the {t}.",
        nothing="Shops in {land} have been open at night since the {s}.",
        slots={
            "land": COUNTRIES,
            "y s t": [
                ("1974", "1970s", "1990s"),
                ("1988", "1980s", "1960s"),
                ("1996", "1990s", "1970s"),
                ("1963", "1960s", "1980s"),
                ("2003", "2000s", "1980s"),
                ("1957", "1950s", "1970s"),
            ],
        },
    ),
    Template(
        name="eruption-order",
        kind="dates",
        evidence="The volcano above {town} has been quiet in recent years. Its last eruption, on {m} {d}, {y}, "
        "destroyed two farms. An observatory has watched it since.",
        supported="The volcano near {town} last erupted before {later}.",
        contradicted="The volcano near {town} last erupted after {later}.",
        nothing="The volcano near {town} killed {d} people.",
        slots={
            "town": TOWNS,
            "m": MONTHS,
            "d": ("4", "11", "16", "23"),
            "y later": [
                ("1884", "1890"),
                ("1906", "1915"),
                ("1925", "1940"),
                ("1949", "1960"),
                ("1963", "1970"),
                ("1974", "1985"),
            ],
        },
    ),
    Template(
        name="takeover",
        kind="names",
        evidence="After months of talks, {one} acquired {two} for an undisclosed sum. The deal was announced in "
        "{town} by {who}, who will lead the merged company.",
        supported="{two} was bought by {one}.",
        contradicted="{one} was bought by {two}.",
        nothing="{one} has moved its head office to {town}.",
        slots={
            "one two": FIRMS,
            "town": TOWNS,
            "who": PEOPLE,
        },
    ),
    Template(
        name="final-winner",
        kind="names",
        evidence="The final in {town} lasted four hours. {one} defeated {two} in five sets and took the trophy "
        "for the first time. Rain had delayed the start.",
        supported="{two} lost the final in {town} to {one}.",
        contradicted="{one} lost the final in {town} to {two}.",
        nothing="{one} also won the doubles in {town}.",
        slots={
            "town": TOWNS,
            "one two": PEOPLE,
        },
    ),
    Template(
        name="discovery",
        kind="names",
        evidence="The comet was first seen by {one}, a teacher from {land}. Two nights later {two} measured its "
        "orbit at the observatory in {town}.",
        supported="It was {one} who discovered the comet.",
        contradicted="It was {two} who discovered the comet.",
        nothing="{one} was given a prize for discovering the comet.",
        slots={
            "one two": PEOPLE,
            "land": COUNTRIES,
            "town": TOWNS,
        },
    ),
    Template(
        name="court-sides",
        kind="names",
        evidence="{one} sued {two} over a patent for brake pads, but in {m} the court in {town} dismissed the "
        "case and made the plaintiff pay the costs.",
        supported="The patent suit was brought by {one} against {two}.",
        contradicted="The patent suit was brought by {two} against {one}.",
        nothing="{two} has changed the design of its brake pads.",
        slots={
            "one two": FIRMS,
            "m": MONTHS,
            "town": TOWNS,
        },
    ),
    Template(
        name="vaccine-approval",
        kind="negation",
        evidence="The health agency of {land} reviewed {drug} in {y}. It did not approve the drug for children, "
        "as too few had taken part in the trials. Adults may use it.",
        supported="Children were not cleared to receive {drug} by the agency in {land}.",
        contradicted="Children were cleared to receive {drug} by the agency in {land}.",
        nothing="{drug} is not sold in pharmacies in {land}.",
        slots={
            "land": COUNTRIES,
            "drug": DRUGS,
            "y": YEARS,
        },
    ),
    Template(
        name="summit-attempt",
        kind="negation",
        evidence="{who} set out for the summit at dawn with two companions. They reached the top shortly after "
        "noon and returned to the hut in {town} the same evening.",
        supported="{who} made it to the top.",
        contradicted="{who} never made it to the top.",
        nothing="{who} did not use bottled oxygen.",
        slots={
            "who": PEOPLE,
            "town": TOWNS,
        },
    ),
    Template(
        name="contract-clause",
        kind="negation",
        evidence="The contract between {one} and {two} runs for {n} months. It covers the delivery of spare "
        "parts. Prices follow the index of the chamber of commerce. Either side may end it early, "
        "but has to give a reason. Invoices are due within a week. Disputes go to the court in {town}.",
        supported="{one} must state why it ends the contract with {two}.",
        contradicted="{one} need not state why it ends the contract with {two}.",
        nothing="{one} cannot hire people away from {two} during the contract.",
        slots={
            "one two": FIRMS,
            "n": COUNTS,
            "town": TOWNS,
        },
    ),
    Template(
        name="species-flight",
        kind="negation",
        evidence="The rail of {place} is a brown bird the size of a hen. It lost the ability to fly after its "
        "ancestors settled on the island. It feeds on crabs and seeds.",
        supported="The rail of {place} cannot fly.",
        contradicted="The rail of {place} is able to fly.",
        nothing="The rail of {place} does not breed in {m}.",
        slots={
            "place": TOWNS,
            "m": MONTHS,
        },
    ),
    Template(
        name="price-move",
        kind="opposites",
        evidence="Shares of {firm} moved sharply on {m} {d}. They {up} by {n} percent after the company "
        "published its results, the largest move in a decade.",
        supported="The share price of {firm} went {dir} following its results.",
        contradicted="The share price of {firm} went {wrong} following its results.",
        nothing="{firm} expects its share price to go {dir} again next year.",
        slots={
            "firm": FIRMS,
            "m": MONTHS,
            "d": COUNTS[:4],
            "n": ("11", "14", "18", "9"),
            "up dir wrong": [
                ("rose", "up", "down"),
                ("fell", "down", "up"),
                ("climbed", "up", "down"),
                ("dropped", "down", "up"),
                ("increased", "higher", "lower"),
                ("declined", "lower", "higher"),
            ],
        },
    ),
    Template(
        name="council-vote",
        kind="opposites",
        evidence="The council of {town} met on {m} {d} to decide on the new tram line. After four hours of "
        "debate it {did} the plan by {n} votes to 12.",
        supported="The tram plan was {same} by the council in {town}.",
        contradicted="The tram plan was {other} by the council in {town}.",
        nothing="The tram line in {town} will be finished in {m}.",
        slots={
            "town": TOWNS,
            "m": MONTHS,
            "d": COUNTS[:4],
            "n": COUNTS,
            "did same other": [
                ("approved", "accepted", "rejected"),
                ("rejected", "turned down", "approved"),
                ("accepted", "approved", "rejected"),
                ("voted down", "rejected", "accepted"),
            ],
        },
    ),
    Template(
        name="enzyme-effect",
        kind="opposites",
        evidence="Researchers in {town} gave mice {drug} for {n} days. The compound {did} the enzyme that breaks "
        "down starch. The mice showed no other changes.",
        supported="In mice, {drug} was found to {same} a starch-splitting enzyme.",
        contradicted="In mice, {drug} was found to {other} a starch-splitting enzyme.",
        nothing="In people, {drug} lowers the level of blood sugar.",
        slots={
            "town": TOWNS,
            "drug": DRUGS,
            "n": COUNTS,
            "did same other": [
                ("inhibited", "block", "activate"),
                ("blocked", "inhibit", "activate"),
                ("activated", "switch on", "block"),
                ("suppressed", "inhibit", "activate"),
            ],
        },
    ),
    Template(
        name="house-side",
        kind="opposites",
        evidence="The old mill, {n} metres {side} of the church of {town}, is closed to visitors in winter.",
        supported="To the {side} of the church in {town} there is a mill.",
        contradicted="To the {wrong} of the church in {town} there is a mill.",
        nothing="The mill in {town} was built {n} years ago.",
        slots={
            "town": TOWNS,
            "n": COUNTS,
            "side wrong": [
                ("north", "south"),
                ("south", "north"),
                ("east", "west"),
                ("west", "east"),
            ],
        },
    ),
    Template(
        name="members-agree",
        kind="quantifiers",
        evidence="The board of {firm} has {n} members. {some} of them supported the sale of the plant in {town}; "
        "the others wanted to wait for a better offer.",
        supported="Not all board members of {firm} were in favour of the sale.",
        contradicted="All board members of {firm} were in favour of the sale.",
        nothing="All board members of {firm} live in {town}.",
        slots={
            "firm": FIRMS,
            "n": COUNTS[:5],
            "some": ("Some", "Several", "Most", "A few"),
            "town": TOWNS,
        },
    ),
    Template(
        name="soil-samples",
        kind="quantifiers",
        evidence="Geologists took {n} samples of soil around {town}. {most} samples contained lead, usually "
        "close to the old smelter. The town will clean the playgrounds first.",
        supported="Lead was found in {same} the samples from {town}.",
        contradicted="Lead was found in {other} the samples from {town}.",
        nothing="Lead was found in the drinking water of {town}.",
        slots={
            "n": COUNTS,
            "town": TOWNS,
            "most same other": [
                ("Most of the", "the majority of", "none of"),
                ("All of the", "every one of", "none of"),
                ("Only a few of the", "a small number of", "all of"),
                ("None of the", "not one of", "all of"),
            ],
        },
    ),
    Template(
        name="speed-limit",
        kind="quantifiers",
        evidence="New rules apply on the lake near {town}. Motor boats may go at most {n} kilometres per hour, "
        "and they must keep away from the reeds.",
        supported="On the lake near {town}, {n} km/h is the highest speed allowed for motor boats.",
        contradicted="On the lake near {town}, motor boats have to go at least {n} km/h.",
        nothing="Rowing boats on the lake near {town} need a permit.",
        slots={
            "town": TOWNS,
            "n": ("8", "10", "12", "15", "20", "25", "6", "18"),
        },
    ),
    Template(
        name="attendance-over",
        kind="quantifiers",
        evidence="The museum in {town} counted its visitors for the first time in {y}. More than {n} thousand "
        "people came, which its director {who} called a surprise.",
        supported="Over {n},000 people went to the museum of {town} in {y}.",
        contradicted="Fewer than {n},000 people went to the museum of {town} in {y}.",
        nothing="More than {n},000 books are kept at the museum of {town}.",
        slots={
            "town": TOWNS,
            "y": YEARS,
            "n": COUNTS,
            "who": PEOPLE,
        },
    ),
)
