"""Templates to teach the verifier with: dates and names."""

from training.challenge_fill import CLUBS, COUNTRIES, COUNTS, FIRMS, MONTHS, PEOPLE, TOWNS, YEARS, Template

SHIPS = ("Halcyon", "Petrel", "Aurora", "Sea Hawk", "Constance", "Northern Star", "Fulmar", "Meridian")
FILMS = ("The Glass Orchard", "Low Tide", "Nine Lanterns", "A Winter Ledger", "Salt Road", "The Quiet Engine")
SONGS = ("Paper Moonlight", "Harbour Lights", "Long Way Down", "Amber Rain", "Stay a While", "Copper Wings")
SCHOOLS = (
    "Aldous University", "the Merrow Institute", "Kingsbrook College", "the Hallam Foundation", "Stanmore University",
    "the Verrall Trust", "the Royal Tarn Society",
)  # fmt: skip
DAYS = ("13", "16", "18", "21", "24", "27")
EARLY = ("2", "4", "6", "7", "9", "11")

TEMPLATES: tuple[Template, ...] = (
    Template(
        name="expedition-roles",
        kind="names",
        evidence="The {ship} left {town} in {y} with a crew of {n}. {one} was in command; {two} served as navigator, "
        "and {three} was the surgeon. Ice held the ship fast for most of the second year.",
        supported="{three} was the doctor aboard the {ship}, and the expedition was led by {one}.",
        contradicted="{three} was the doctor aboard the {ship}, and the expedition was led by {two}.",
        nothing="{three} kept a diary aboard the {ship}, which was later published by {one}.",
        slots={"ship": SHIPS, "town": TOWNS, "y": YEARS, "n": COUNTS, "one two three": PEOPLE},
    ),
    Template(
        name="film-credits",
        kind="names",
        evidence="“{film}” was shot in {land} over {n} days. {one} directed it from a script by {two}, while the "
        "score was composed by {three}. Critics were divided.",
        supported="The screenplay of “{film}” is the work of {two}.",
        contradicted="The screenplay of “{film}” is the work of {three}.",
        nothing="{two} received an award for the screenplay of “{film}”.",
        slots={"film": FILMS, "land": COUNTRIES, "n": COUNTS, "one two three": PEOPLE},
    ),
    Template(
        name="tomb-finder",
        kind="names",
        evidence="The painted tomb outside {town} came to light in {y}, when {one} broke through the wall of a "
        "cellar. The finds were catalogued by {two} and sent to a museum in {land}.",
        supported="The person who found the painted tomb near {town} was not {two} but {one}.",
        contradicted="The person who found the painted tomb near {town} was not {one} but {two}.",
        nothing="The painted tomb near {town} had been robbed long before {one} found it.",
        slots={"town": TOWNS, "y": YEARS, "land": COUNTRIES, "one two": PEOPLE},
    ),
    Template(
        name="loan-direction",
        kind="names",
        evidence="Short of cash after a poor summer, {two} turned to a rival for help. {one} lent it {n} million "
        "euros, to be repaid within {k} years. {three} had declined to take part.",
        supported="{two} owes money to {one}.",
        contradicted="{one} owes money to {two}.",
        nothing="{two} owes money to its suppliers in {land}.",
        slots={"one two three": FIRMS, "n": COUNTS, "k": ("three", "four", "six", "eight"), "land": COUNTRIES},
    ),
    Template(
        name="island-ceded",
        kind="names",
        evidence="The treaty of {y} ended the quarrel over the islands. Under its terms {one} handed them to {two} in "
        "return for fishing rights. {three} acted as mediator.",
        supported="In {y}, {two} was given the islands by {one}.",
        contradicted="In {y}, {one} was given the islands by {two}.",
        nothing="In {y}, {three} was paid by {two} for its services as mediator.",
        slots={"one two three": COUNTRIES, "y": YEARS},
    ),
    Template(
        name="violin-teacher",
        kind="names",
        evidence="{one} studied the violin under {two} in {town} from the age of nine, and first played in public in "
        "{y}. The piano accompanist on that evening was {three}.",
        supported="{two} taught {one} to play the violin.",
        contradicted="{one} taught {two} to play the violin.",
        nothing="{two} taught {three} to play the piano.",
        slots={"one two three": PEOPLE, "town": TOWNS, "y": YEARS},
    ),
    Template(
        name="minister-succession",
        kind="names",
        evidence="{two} resigned as finance minister of {land} in {m}, and to general surprise {one} took over. "
        "The third contender, {three}, remained in charge of transport.",
        supported="As finance minister of {land}, {one} came after {two}.",
        contradicted="As finance minister of {land}, {two} came after {one}.",
        nothing="As finance minister of {land}, {one} raised the tax on fuel.",
        slots={"one two three": PEOPLE, "land": COUNTRIES, "m": MONTHS},
    ),
    Template(
        name="song-author",
        kind="names",
        evidence="“{song}” reached number {k} in the charts of {land} in {y}. {one} sang it, but words and tune "
        "were by {two}, who at the time worked in a bakery.",
        supported="{one} did not write “{song}”.",
        contradicted="{two} did not write “{song}”.",
        nothing="{one} did not like “{song}”.",
        slots={"song": SONGS, "k": ("two", "four", "five", "seven"), "land": COUNTRIES, "y": YEARS, "one two": PEOPLE},
    ),
    Template(
        name="court-opinion",
        kind="names",
        evidence="The supreme court of {land} upheld the water act by five votes to four. {one} wrote for the "
        "majority. In a dissent of {n} pages, {two} called the act a breach of the constitution.",
        supported="In the view of {two}, the water act was unconstitutional.",
        contradicted="In the view of {one}, the water act was unconstitutional.",
        nothing="In the view of {one}, the constitution of {land} should be amended.",
        slots={"land": COUNTRIES, "n": COUNTS, "one two": PEOPLE},
    ),
    Template(
        name="chemist-birthplace",
        kind="names",
        evidence="The chemist {who} was born in {a}, went to school in {b} and spent almost the whole of a long career "
        "at a laboratory in {c}, where {n} of the notebooks are kept.",
        supported="{who} was a native of {a}.",
        contradicted="{who} was a native of {c}.",
        nothing="{who} was married in {a}.",
        slots={"who": PEOPLE, "a b c": TOWNS, "n": COUNTS},
    ),
    Template(
        name="study-funder",
        kind="names",
        evidence="The study of coral bleaching was carried out by {one} between {m} and the end of the year. It "
        "was paid for by {two}. Divers took samples at {n} sites off the coast of {land}.",
        supported="The money for the coral study came from {two}, not from {one}.",
        contradicted="The money for the coral study came from {one}, not from {two}.",
        nothing="The boats for the coral study came from {two}, not from {land}.",
        slots={"one two": SCHOOLS, "m": MONTHS[:6], "n": COUNTS, "land": COUNTRIES[:-1]},
    ),
    Template(
        name="player-transfer",
        kind="names",
        evidence="{who}, {k}, has left {one} for {two} on a three-year contract. The striker, who was also wanted by "
        "{three}, passed a medical on Tuesday.",
        supported="{two} signed {who} from {one}.",
        contradicted="{one} signed {who} from {two}.",
        nothing="{three} offered {one} more money for {who} than {two} did.",
        slots={"who": PEOPLE, "k": ("22", "24", "26", "29"), "one two three": CLUBS},
    ),
    Template(
        name="partners-trades",
        kind="names",
        evidence="Three people mapped a delta in {land} in {y}. {one} was a botanist, {two} a land surveyor and "
        "{three} a photographer. They travelled by canoe from {town}.",
        supported="The plant expert among the three who charted the delta was {one}.",
        contradicted="The plant expert among the three who charted the delta was {two}.",
        nothing="The oldest among the three who charted the delta was {one}.",
        slots={"land": COUNTRIES, "y": YEARS, "town": TOWNS, "one two three": PEOPLE},
    ),
    Template(
        name="plagiarism-charge",
        kind="names",
        evidence="In {m} the novelist {one} publicly accused {two} of copying {n} pages of “{film}”. {two} denied it. "
        "Their publisher, {firm}, made no comment.",
        supported="{two} was accused of plagiarism by {one}.",
        contradicted="{one} was accused of plagiarism by {two}.",
        nothing="{two} was dropped by {firm} over the plagiarism charge.",
        slots={"m": MONTHS, "one two": PEOPLE, "n": COUNTS, "film": FILMS, "firm": FIRMS},
    ),
    Template(
        name="mayor-race",
        kind="names",
        evidence="Voters in {town} chose a new mayor on Sunday. {one} won with {p} percent of the vote, ahead of "
        "{two}. {three}, the outgoing mayor, had not stood again.",
        supported="{two} failed to become mayor of {town}.",
        contradicted="{one} failed to become mayor of {town}.",
        nothing="{two} failed to pay for the posters put up in {town}.",
        slots={"town": TOWNS, "p": ("51", "53", "54", "56", "58"), "one two three": PEOPLE},
    ),
    Template(
        name="satellite-makers",
        kind="names",
        evidence="The weather satellite {ship} was built by {one} and put into orbit in {y} on a rocket of {two}. Its "
        "pictures are received at a station near {town}, which {three} runs.",
        supported="{two} launched the {ship} satellite, which {one} had constructed.",
        contradicted="{one} launched the {ship} satellite, which {two} had constructed.",
        nothing="{two} insured the {ship} satellite, which {three} had ordered.",
        slots={"ship": SHIPS, "y": YEARS[9:], "one two three": FIRMS, "town": TOWNS},
    ),
    Template(
        name="armistice-place",
        kind="names",
        evidence="The generals met in {a} for talks that lasted {n} days, but the armistice itself was signed in {b}, "
        "in a railway carriage. A copy is on show in {c}.",
        supported="It was not in {a} that the armistice was signed.",
        contradicted="It was not in {b} that the armistice was signed.",
        nothing="It was not in {c} that the railway carriage was built.",
        slots={"a b c": TOWNS, "n": COUNTS},
    ),
    Template(
        name="nomination",
        kind="names",
        evidence="At the congress in {town}, {one} proposed {two} for the presidency of the athletics federation, and "
        "{three} seconded. {n} delegates were present.",
        supported="{two} was nominated by {one} to head the athletics federation.",
        contradicted="{one} was nominated by {two} to head the athletics federation.",
        nothing="{two} was elected by {n} delegates to head the athletics federation.",
        slots={"town": TOWNS, "one two three": PEOPLE, "n": COUNTS},
    ),
    Template(
        name="iso-landing",
        kind="dates",
        evidence="Mission log, probe {ship}. Launch: {a}. Arrival in orbit: {b}. Landing: {c}. Last signal: {d}.",
        supported="The probe {ship} touched down in {good}.",
        contradicted="The probe {ship} touched down in {bad}.",
        nothing="The probe {ship} took its first picture in {good}.",
        slots={
            "ship": SHIPS,
            "a b c d good bad": [
                ("1971-05-28", "1971-12-02", "1972-01-19", "1972-08-22", "January 1972", "August 1972"),
                ("1975-08-20", "1976-06-19", "1976-07-20", "1980-04-11", "July 1976", "June 1976"),
                ("1988-07-12", "1989-01-29", "1989-03-27", "1989-10-04", "March 1989", "October 1989"),
                ("1996-11-07", "1997-09-11", "1997-12-04", "2001-02-14", "December 1997", "September 1997"),
                ("2003-06-10", "2003-12-25", "2004-02-03", "2010-05-22", "February 2004", "June 2003"),
                ("2011-11-26", "2012-08-06", "2012-10-15", "2018-04-30", "October 2012", "April 2018"),
            ],
        },
    ),
    Template(
        name="cathedral-century",
        kind="dates",
        evidence="The cathedral of {town} stands on Roman foundations. Its nave was finished in {a}, the great organ "
        "was installed in {b}, and the last repairs to the roof were made in {c}.",
        supported="The cathedral of {town} got its organ in the {good} century.",
        contradicted="The cathedral of {town} got its organ in the {bad} century.",
        nothing="The cathedral of {town} got its bells in the {good} century.",
        slots={
            "town": TOWNS,
            "a b c good bad": [
                ("1388", "1642", "1877", "seventeenth", "sixteenth"),
                ("1427", "1731", "1902", "18th", "17th"),
                ("1263", "1589", "1954", "sixteenth", "fifteenth"),
                ("1510", "1818", "1991", "19th", "18th"),
                ("1349", "1493", "1840", "fifteenth", "fourteenth"),
                ("1295", "1766", "1929", "eighteenth", "thirteenth"),
            ],
        },
    ),
    Template(
        name="queen-reign",
        kind="dates",
        evidence="Crowned on {d} {m} {a}, the queen of {land} ruled until her abdication in the same month of {b}. She "
        "had {k} children, and lived for another {x} years in {town}.",
        supported="The queen sat on the throne of {land} for {good} years.",
        contradicted="The queen sat on the throne of {land} for {x} years.",
        nothing="The queen was married for {good} years before she left {land}.",
        slots={
            "d": DAYS,
            "m": MONTHS,
            "land": COUNTRIES,
            "town": TOWNS,
            "k": ("two", "three", "five"),
            "a b good x": [
                ("1702", "1714", "twelve", "nine"),
                ("1741", "1780", "39", "17"),
                ("1837", "1861", "24", "31"),
                ("1890", "1948", "58", "14"),
                ("1632", "1654", "22", "35"),
                ("1559", "1574", "fifteen", "twenty"),
                ("1804", "1837", "33", "11"),
            ],
        },
    ),
    Template(
        name="orchestra-hall",
        kind="dates",
        evidence="The orchestra of {town} was founded in {a} by {one}. The concert hall on the quay, designed by "
        "{two}, was completed in {b}. Since {c} both have belonged to the city.",
        supported="When the orchestra of {town} was set up, the concert hall on the quay had not yet been finished.",
        contradicted="When the orchestra of {town} was set up, the concert hall on the quay had already been finished.",
        nothing="When the orchestra of {town} was set up, it had no women among its members.",
        slots={
            "town": TOWNS,
            "one two": PEOPLE,
            "a b c": [
                ("1871", "1884", "1920"),
                ("1893", "1931", "1946"),
                ("1906", "1912", "1958"),
                ("1925", "1974", "1980"),
                ("1949", "1963", "1977"),
            ],
        },
    ),
    Template(
        name="appeal-deadline",
        kind="dates",
        evidence="The court in {town} ruled against {firm} on {a}. An appeal had to be lodged by {b}; that of {firm} "
        "reached the clerk on {c}.",
        supported="{firm} {good} the deadline for its appeal.",
        contradicted="{firm} {bad} the deadline for its appeal.",
        nothing="{firm} was told of the deadline for its appeal by the judge in {town}.",
        slots={
            "town": TOWNS,
            "firm": FIRMS,
            "a b c good bad": [
                ("3 March", "2 April", "5 April", "missed", "met"),
                ("12 May", "11 June", "9 June", "met", "missed"),
                ("20 August", "19 September", "28 September", "did not keep", "kept"),
                ("7 October", "6 November", "30 October", "kept", "did not keep"),
                ("15 January", "14 February", "1 March", "missed", "met"),
                ("1 June", "1 July", "29 June", "did not miss", "missed"),
            ],
        },
    ),
    Template(
        name="medal-age",
        kind="dates",
        evidence="{who} was born on {d} January {a} in {town}, took up rowing in {b} and won the Olympic medal in "
        "August {c}. A street has borne the name since {e}.",
        supported="{who} was {good} years old on winning the Olympic medal.",
        contradicted="{who} was {bad} years old on winning the Olympic medal.",
        nothing="{who} was {good} years old on getting married.",
        slots={
            "who": PEOPLE,
            "d": DAYS,
            "town": TOWNS,
            "a b c e good bad": [
                ("1901", "1916", "1928", "1990", "27", "15"),
                ("1930", "1949", "1952", "2004", "22", "32"),
                ("1941", "1955", "1972", "2010", "thirty-one", "twenty-one"),
                ("1958", "1970", "1984", "1999", "26", "36"),
                ("1975", "1989", "2004", "2016", "29", "19"),
                ("1890", "1907", "1924", "1961", "34", "43"),
            ],
        },
    ),
    Template(
        name="years-later",
        kind="dates",
        evidence="{firm} opened its first workshop in {town} in {a}. {K} years later it moved to {other}, where it "
        "employed {n} people. It went public in {c}.",
        supported="{firm} moved to {other} in {good}.",
        contradicted="{firm} moved to {other} in {c}.",
        nothing="{firm} bought its first steam engine in {good}.",
        slots={
            "firm": FIRMS,
            "town other": TOWNS,
            "n": COUNTS,
            "a K c good": [
                ("1884", "Three", "1901", "1887"),
                ("1906", "Seven", "1925", "1913"),
                ("1912", "Ten", "1938", "1922"),
                ("1949", "Five", "1961", "1954"),
                ("1871", "Twelve", "1893", "1883"),
                ("1963", "Six", "1988", "1969"),
            ],
        },
    ),
    Template(
        name="women-vote",
        kind="dates",
        evidence="Men over 25 in {land} could vote from {a}. Women gained the same right in {b}, after {n} petitions. "
        "In {c} the voting age was lowered to 18.",
        supported="Women in {land} were not allowed to vote until {b}.",
        contradicted="Women in {land} were not allowed to vote until {c}.",
        nothing="Women in {land} were not elected to parliament until {c}.",
        slots={
            "land": COUNTRIES,
            "n": COUNTS,
            "a b c": [
                ("1871", "1919", "1972"),
                ("1848", "1906", "1969"),
                ("1884", "1931", "1974"),
                ("1893", "1945", "1970"),
                ("1866", "1949", "1988"),
            ],
        },
    ),
    Template(
        name="strike-decade-part",
        kind="dates",
        evidence="Dockers in {town} walked out twice. The strike of {a} collapsed within a week. That of {b}, led by "
        "{who}, lasted {n} days and won an eight-hour day.",
        supported="The strike that brought {town}’s dockers the eight-hour day took place in the {good}.",
        contradicted="The strike that brought {town}’s dockers the eight-hour day took place in the {bad}.",
        nothing="The strike that brought {town}’s railwaymen a rise in pay took place in the {good}.",
        slots={
            "town": TOWNS,
            "who": PEOPLE,
            "n": COUNTS,
            "a b good bad": [
                ("1889", "1911", "early 1910s", "late 1880s"),
                ("1902", "1919", "late 1910s", "early 1900s"),
                ("1912", "1926", "mid-1920s", "early 1910s"),
                ("1891", "1908", "late 1900s", "early 1890s"),
                ("1913", "1931", "early 1930s", "early 1910s"),
            ],
        },
    ),
    Template(
        name="ruins-older",
        kind="dates",
        evidence="Archaeologists date the {x} of {town} to about {a} BC, on the evidence of coins and pottery. The {y} "
        "beside it is thought to have been put up around {b} BC. Both were burnt in AD {c}.",
        supported="At {town}, the {x} is older than the {y}.",
        contradicted="At {town}, the {y} is older than the {x}.",
        nothing="At {town}, the {x} is larger than the {y}.",
        slots={
            "town": TOWNS,
            "x y": ("temple", "theatre", "market hall", "bath house", "treasury"),
            "a b c": [
                ("430", "290", "61"),
                ("520", "480", "117"),
                ("310", "150", "267"),
                ("640", "395", "88"),
                ("205", "90", "170"),
            ],
        },
    ),
    Template(
        name="film-delay",
        kind="dates",
        evidence="“{film}” should have reached cinemas in {m} {y}, but a quarrel over the ending between {one} and the "
        "studio held it up. The premiere finally took place in {town} on {d} {n} of the {k} year.",
        supported="“{film}” was not yet on show in cinemas in {y}.",
        contradicted="“{film}” was already on show in cinemas in {y}.",
        nothing="“{film}” was not liked by the audience in {town}.",
        slots={
            "film": FILMS,
            "m n": MONTHS,
            "y": YEARS[5:],
            "one": PEOPLE,
            "town": TOWNS,
            "d": DAYS,
            "k": [("following",), ("next",)],
        },
    ),
    Template(
        name="slash-date",
        kind="dates",
        evidence="Minutes of {firm}. Board elected: {d}/{a}/{y}. Articles amended: {d}/{b}/{y}. Present: {one} and "
        "{two}. Place: {town}.",
        supported="The board of {firm} was elected in {good} {y}.",
        contradicted="The board of {firm} was elected in {bad} {y}.",
        nothing="The accounts of {firm} were audited in {good} {y}.",
        slots={
            "firm": FIRMS,
            "d": DAYS,
            "y": YEARS,
            "one two": PEOPLE,
            "town": TOWNS,
            "a b good bad": [
                ("03", "09", "March", "September"),
                ("01", "06", "January", "June"),
                ("07", "11", "July", "November"),
                ("04", "08", "April", "August"),
                ("02", "12", "February", "December"),
                ("05", "10", "May", "October"),
            ],
        },
    ),
    Template(
        name="law-in-force",
        kind="dates",
        evidence="The press act of {land} came into force on {d} {m} {a}. Drafted by {who}, it was repealed in {b} and "
        "never replaced. In its first year {n} newspapers were fined.",
        supported="By {late}, the press act of {land} was no longer in force.",
        contradicted="By {late}, the press act of {land} was still in force.",
        nothing="By {late}, the press of {land} was still short of paper.",
        slots={
            "land": COUNTRIES,
            "d": DAYS,
            "m": MONTHS,
            "who": PEOPLE,
            "n": COUNTS,
            "a b late": [
                ("1851", "1868", "1880"),
                ("1874", "1906", "1910"),
                ("1922", "1937", "1945"),
                ("1934", "1946", "1950"),
                ("1958", "1975", "1979"),
                ("1881", "1919", "1930"),
            ],
        },
    ),
    Template(
        name="plant-half-year",
        kind="dates",
        evidence="{firm} reported a busy {y}. A depot in {a} opened on {d} {early}, and a battery plant in {b} started "
        "up on {e} {late}. {who} was named head of both.",
        supported="The {b} plant of {firm} began production in the second half of {y}.",
        contradicted="The {b} plant of {firm} began production in the first half of {y}.",
        nothing="The {b} plant of {firm} turned a profit in the second half of {y}.",
        slots={
            "firm": FIRMS,
            "y": YEARS[10:],
            "a b": TOWNS,
            "d e": EARLY,
            "early": ("January", "February", "March", "April"),
            "late": ("August", "September", "October", "November"),
            "who": PEOPLE,
        },
    ),
    Template(
        name="plague-order",
        kind="dates",
        evidence="The plague came to {a} in the spring of {y}. Only in {z}, when ships from {land} were let in again, "
        "did it reach {b}. About {n}00 people died in the two ports.",
        supported="{b} was struck by the plague later than {a}.",
        contradicted="{b} was struck by the plague earlier than {a}.",
        nothing="{b} was struck by the plague harder than {a}.",
        slots={
            "a b": TOWNS,
            "land": COUNTRIES,
            "n": COUNTS,
            "y z": [("1347", "1349"), ("1563", "1565"), ("1628", "1630"), ("1664", "1667"), ("1720", "1722")],
        },
    ),
    Template(
        name="president-overlap",
        kind="dates",
        evidence="{one} was president of {land} from {a} to {b}, and {two} from {b} to {c}. The railway to {town} was "
        "nationalised in {e}.",
        supported="The railway was nationalised under {right}, president of {land}.",
        contradicted="The railway was nationalised under {wrong}, president of {land}.",
        nothing="The mines were nationalised under {right}, president of {land}.",
        slots={
            "land": COUNTRIES,
            "town": TOWNS,
            "one two right wrong a b c e": [
                (one, two, *((two, one) if later else (one, two)), *years)
                for one, two in zip(PEOPLE, PEOPLE[3:] + PEOPLE[:3], strict=True)
                for later, years in (
                    (True, ("1902", "1910", "1918", "1913")),
                    (False, ("1921", "1927", "1935", "1924")),
                    (True, ("1946", "1952", "1960", "1957")),
                    (False, ("1888", "1894", "1906", "1891")),
                    (True, ("1961", "1969", "1977", "1972")),
                    (False, ("1961", "1969", "1977", "1964")),
                )
            ],
        },
    ),
    Template(
        name="centenary",
        kind="dates",
        evidence="{club} marked their {k} birthday in {y} with a match against {two}. {n} former players came to "
        "{town}, where the present ground was opened in {g}.",
        supported="{club} were founded in {good}.",
        contradicted="{club} were founded in {g}.",
        nothing="{club} won their first title in {g}.",
        slots={
            "club two": CLUBS,
            "n": COUNTS,
            "town": TOWNS,
            "k y g good": [
                ("100th", "1984", "1923", "1884"),
                ("hundredth", "2006", "1958", "1906"),
                ("125th", "2003", "1911", "1878"),
                ("50th", "1975", "1964", "1925"),
                ("75th", "1987", "1949", "1912"),
                ("150th", "2019", "1897", "1869"),
            ],
        },
    ),
    Template(
        name="record-stood",
        kind="dates",
        evidence="{one} ran the mile in a national record for {land} on {d} {m} {a}. The time stood until {n} {b}, "
        "when {two} took {k} tenths of a second off it in {town}.",
        supported="The national mile record set by {one} remained unbroken for more than {good} years.",
        contradicted="The national mile record set by {one} remained unbroken for less than {good} years.",
        nothing="The national mile record set by {two} remained unbroken for more than {good} years.",
        slots={
            "one two": PEOPLE,
            "land": COUNTRIES,
            "d": DAYS,
            "m n": MONTHS,
            "k": ("two", "three", "six"),
            "town": TOWNS,
            "a b good": [
                ("1954", "1966", "ten"),
                ("1971", "1997", "twenty"),
                ("1928", "1946", "15"),
                ("1963", "1972", "five"),
                ("1980", "2014", "30"),
                ("1985", "1993", "six"),
            ],
        },
    ),
)
