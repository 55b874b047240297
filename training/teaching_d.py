"""Templates to teach with: quantifiers, and claims that need two sentences of the evidence together."""

from training.challenge_fill import COUNTRIES, COUNTS, DRUGS, FIRMS, MONTHS, PEOPLE, TOWNS, YEARS, Template

WOMEN = ("Ada Lindqvist", "Priya Raman", "Elena Costa", "Nadia Farouk", "Clara Mendes", "Ingrid Solberg")
MEN = ("Tomas Reyes", "Victor Okafor", "Jonas Weller", "Samuel Archer", "Owen Blackwood", "Peter Novak")

TEMPLATES: tuple[Template, ...] = (
    Template(
        name="commuter-survey",
        kind="quantifiers",
        evidence="The town hall of {town} asked {n} residents how they get to work. {p}% said they cycle and {q}% "
        "take the bus. The rest drive or walk. The survey was carried out in {m}.",
        supported="{same} of the people questioned in {town} ride a bicycle to work.",
        contradicted="{other} of the people questioned in {town} ride a bicycle to work.",
        nothing="{same} of the people questioned in {town} want wider pavements.",
        slots={
            "town": TOWNS,
            "n": ("640", "1,150", "870", "2,300"),
            "m": MONTHS,
            "p q same other": [
                ("58", "21", "More than half", "Fewer than half"),
                ("31", "44", "Fewer than half", "More than half"),
                ("64", "17", "The majority", "A minority"),
                ("27", "38", "A minority", "The majority"),
                ("50", "23", "Half", "A quarter"),
                ("25", "50", "A quarter", "Half"),
                ("20", "33", "One in five", "One in two"),
            ],
        },
    ),
    Template(
        name="districts-won",
        kind="quantifiers",
        evidence="{who} ran for governor and campaigned in all {n} districts of the province. On election night "
        "{res}. Turnout was highest in {town}.",
        supported="{who} carried {same} in the province.",
        contradicted="{who} carried {other} in the province.",
        nothing="{who} opened a campaign office in {same} in the province.",
        slots={
            "who": PEOPLE,
            "town": TOWNS,
            "n res same other": [
                ("14", "the candidate came first in 14 of them", "every district", "not a single district"),
                ("17", "the candidate came first in 15 of them", "most districts", "only a few districts"),
                ("23", "the candidate came first in two of them", "only a few districts", "most districts"),
                ("28", "a rival came first in each of them", "not a single district", "every district"),
                ("36", "the candidate came first in 18 of them", "half of the districts", "a third of the districts"),
                ("24", "the candidate came first in eight", "a third of the districts", "half of the districts"),
            ],
        },
    ),
    Template(
        name="frog-ponds",
        kind="quantifiers",
        evidence="Biologists checked {n} ponds around {town} for tree frogs. The animals turned up in {k} of them; "
        "newts lived in {w}. Three ponds had dried out by {m}.",
        supported="Tree frogs were present in {same} ponds near {town}.",
        contradicted="Tree frogs were present in {other} ponds near {town}.",
        nothing="Tree frogs laid eggs in {same} ponds near {town}.",
        slots={
            "town": TOWNS,
            "m": ("June", "July", "August", "September"),
            "n k w same other": [
                ("60", "34", "nine", "at least 30", "at most 30"),
                ("45", "12", "31", "no more than 20", "more than 20"),
                ("52", "27", "40", "more than twenty-five", "fewer than twenty-five"),
                ("38", "8", "16", "fewer than ten", "more than ten"),
                ("70", "51", "22", "upwards of 50", "fewer than 50"),
                ("48", "19", "36", "under twenty", "over twenty"),
            ],
        },
    ),
    Template(
        name="exam-all-but",
        kind="quantifiers",
        evidence="The grammar school in {town} entered {n} pupils for the chemistry exam in {y}. {res}. The exam "
        "was marked by teachers from another school.",
        supported="{same} who sat the chemistry exam in {town} in {y}.",
        contradicted="{other} who sat the chemistry exam in {town} in {y}.",
        nothing="The physics exam in {town} in {y} was passed by all but two pupils.",
        slots={
            "town": TOWNS,
            "n": COUNTS,
            "y": YEARS,
            "res same other": [
                (
                    "All but two passed",
                    "Some failures occurred among the pupils",
                    "No failures occurred among the pupils",
                ),
                (
                    "Every one of them passed",
                    "No failures occurred among the pupils",
                    "Some failures occurred among the pupils",
                ),
                ("All of them passed", "There was no failure among those", "There were a few failures among those"),
                ("Four did not pass", "There were a few failures among those", "There was no failure among those"),
            ],
        },
    ),
    Template(
        name="library-only-members",
        kind="quantifiers",
        evidence="Anyone may read in the library of {town}, which opened in {y}. {rule} It closes on Mondays.",
        supported="{same} from the library of {town}.",
        contradicted="{other} from the library of {town}.",
        nothing="Only adults can reserve a film online from the library of {town}.",
        slots={
            "town": TOWNS,
            "y": YEARS,
            "rule same other": [
                (
                    "Books may be taken home only by members.",
                    "Nobody except members can borrow books",
                    "Everyone, member or not, can borrow books",
                ),
                (
                    "Books may be taken home by anybody, without membership.",
                    "Everyone, member or not, can borrow books",
                    "Nobody except members can borrow books",
                ),
                (
                    "Maps are lent to researchers alone.",
                    "Only researchers may borrow maps",
                    "All readers may borrow maps",
                ),
                (
                    "Maps are lent to any reader who asks.",
                    "All readers may borrow maps",
                    "Only researchers may borrow maps",
                ),
            ],
        },
    ),
    Template(
        name="paintings-shown",
        kind="quantifiers",
        evidence="The art museum of {town} owns {n} paintings and {c} sculptures. At the moment {k} of the "
        "paintings hang in its rooms, the director {who} said; the others are in the cellar.",
        supported="{same} of the museum's paintings in {town} are on display.",
        contradicted="{other} of the museum's paintings in {town} are on display.",
        nothing="{same} of the museum's paintings in {town} were gifts.",
        slots={
            "town": TOWNS,
            "c": COUNTS,
            "who": PEOPLE,
            "n k same other": [
                ("800", "400", "Half", "All"),
                ("600", "200", "A third", "Two thirds"),
                ("900", "600", "Two thirds", "A third"),
                ("1,200", "300", "A quarter", "Half"),
                ("1,000", "90", "Fewer than a tenth", "More than a tenth"),
                ("500", "380", "Over three quarters", "Under a quarter"),
            ],
        },
    ),
    Template(
        name="plants-twice",
        kind="quantifiers",
        evidence="{firm} has two plants. The one in {one} employs {a} people and the one in {two} has a workforce of "
        "{b}. A third site was sold in {y}.",
        supported="{firm} has {same} workers in {one} as in {two}.",
        contradicted="{firm} has {other} workers in {one} as in {two}.",
        nothing="{firm} has {same} women among its managers in {one} as in {two}.",
        slots={
            "firm": FIRMS,
            "one two": TOWNS,
            "y": YEARS,
            "a b same other": [
                ("240", "120", "twice as many", "half as many"),
                ("180", "360", "half as many", "twice as many"),
                ("450", "150", "three times as many", "twice as many"),
                ("820", "410", "two times as many", "four times as many"),
                ("310", "310", "exactly as many", "twice as many"),
                ("600", "150", "four times as many", "only half as many"),
            ],
        },
    ),
    Template(
        name="tram-capacity",
        kind="quantifiers",
        evidence="New trams have run in {town} since {m}. Each is {l} metres long, has {s} seats and takes up to {n} "
        "passengers. The old cars were sold to a city abroad.",
        supported="One of the new trams in {town} can hold no more than {n} passengers.",
        contradicted="One of the new trams in {town} can hold more than {n} passengers.",
        nothing="One of the old trams in {town} could hold no more than {n} passengers.",
        slots={
            "town": TOWNS,
            "m": MONTHS,
            "l s n": [
                ("30", "64", "180"),
                ("42", "88", "250"),
                ("27", "52", "145"),
                ("36", "70", "210"),
                ("45", "96", "275"),
            ],
        },
    ),
    Template(
        name="council-seats",
        kind="quantifiers",
        evidence="The council of {town} has {n} seats. At the election in {y} the Green List took {g} of them, the "
        "Farmers' Union {f}, and the rest went to independents.",
        supported="The Green List won {same} the seats on the council of {town} in {y}.",
        contradicted="The Green List won {other} the seats on the council of {town} in {y}.",
        nothing="Women took {same} the seats on the council of {town} in {y}.",
        slots={
            "town": TOWNS,
            "y": YEARS,
            "n g f same other": [
                ("40", "20", "11", "exactly half of", "more than half of"),
                ("41", "23", "9", "a majority of", "less than half of"),
                ("36", "9", "18", "a quarter of", "half of"),
                ("30", "10", "15", "one third of", "one half of"),
                ("27", "12", "10", "less than half of", "a majority of"),
                ("50", "32", "14", "more than half of", "exactly half of"),
            ],
        },
    ),
    Template(
        name="trial-side-effects",
        kind="quantifiers",
        evidence="The drug {drug} was tested on {n} volunteers in {town}. {res} Blood pressure was taken twice daily.",
        supported="In {town}, {same} who tested {drug} had nausea.",
        contradicted="In {town}, {other} who tested {drug} had nausea.",
        nothing="In {town}, {same} who tested {drug} had a rash.",
        slots={
            "drug": DRUGS,
            "n": ("48", "60", "120", "96"),
            "town": TOWNS,
            "res same other": [
                ("Not one of them felt sick.", "none of the volunteers", "some of the volunteers"),
                ("Seven of them complained of nausea.", "some of the volunteers", "none of the volunteers"),
                ("All but three complained of nausea.", "nearly all volunteers", "hardly any volunteers"),
                ("Nausea was seen in only two of them.", "hardly any volunteers", "nearly all volunteers"),
                ("Everyone among them felt sick on the first day.", "all volunteers", "only some volunteers"),
            ],
        },
    ),
    Template(
        name="islands-lived-on",
        kind="quantifiers",
        evidence="Off {town} lies a group of {n} islands. People live on {k} of them. Seals breed on five, and a "
        "lighthouse stands on the largest.",
        supported="{same} of the islands off {town} are uninhabited.",
        contradicted="{other} of the islands off {town} are uninhabited.",
        nothing="{same} of the islands off {town} have a beach.",
        slots={
            "town": TOWNS,
            "n k same other": [
                ("17", "only three", "Most", "Only a few"),
                ("23", "all except two", "Only a few", "Most"),
                ("14", "every one", "None", "Some"),
                ("28", "fourteen", "Half", "All"),
                ("36", "none", "All", "Half"),
                ("19", "eleven", "Some", "None"),
            ],
        },
    ),
    Template(
        name="electric-buses",
        kind="quantifiers",
        evidence="The bus company of {town} runs {n} vehicles from {d} depots. Of these, {k} are electric and the "
        "others burn diesel. A ride costs the same on all lines.",
        supported="{same} of the buses in {town} run on diesel.",
        contradicted="{other} of the buses in {town} run on diesel.",
        nothing="{same} of the bus drivers in {town} are women.",
        slots={
            "town": TOWNS,
            "d": ("two", "three", "four"),
            "n k same other": [
                ("120", "90", "A quarter", "Three quarters"),
                ("80", "20", "Three quarters", "A quarter"),
                ("100", "95", "Five percent", "95 percent"),
                ("150", "50", "Two thirds", "One third"),
                ("90", "60", "One third", "Two thirds"),
                ("200", "40", "80 per cent", "20 per cent"),
            ],
        },
    ),
    Template(
        name="turnout-half",
        kind="quantifiers",
        evidence="{land} voted on a new constitution in {y}. Turnout was {t} percent, and {v} percent of the ballots "
        "cast were in favour.",
        supported="{same} of the electorate in {land} took part in the vote of {y}.",
        contradicted="{other} of the electorate in {land} took part in the vote of {y}.",
        nothing="{same} of the electorate in {land} had read the draft before the vote of {y}.",
        slots={
            "land": COUNTRIES,
            "y": YEARS,
            "t v same other": [
                ("47.3", "61.2", "Less than half", "More than half"),
                ("58.9", "44.1", "More than half", "Less than half"),
                ("33.4", "70.5", "Around a third", "Around two thirds"),
                ("66.2", "35.8", "About two thirds", "About a third"),
                ("81.7", "54.0", "Over four fifths", "Under four fifths"),
                ("50.0", "72.6", "Exactly half", "Only a fifth"),
            ],
        },
    ),
    Template(
        name="board-women",
        kind="quantifiers",
        evidence="{firm} named its new board in {m}. {a} of its {n} members are women, and {c} live abroad. {who} "
        "stays on as chair.",
        supported="Women {same} on the new board of {firm}.",
        contradicted="Women {other} on the new board of {firm}.",
        nothing="Women {same} among the engineers of {firm}.",
        slots={
            "firm": FIRMS,
            "m": MONTHS,
            "who": PEOPLE,
            "a n c same other": [
                ("Three", "eight", "five", "are in the minority", "are in the majority"),
                ("Seven", "eleven", "two", "are in the majority", "are in the minority"),
                ("Five", "nine", "three", "outnumber men", "are fewer than men"),
                ("Four", "ten", "six", "are fewer than men", "outnumber men"),
                ("Six", "twelve", "four", "are as numerous as men", "outnumber men"),
            ],
        },
    ),
    Template(
        name="job-experience",
        kind="quantifiers",
        evidence="{firm} is looking for a harbour pilot in {town}. Applicants need {rule} at sea and a licence. "
        "Interviews are held on {d} {m}.",
        supported="To apply for the pilot's job in {town}, one must have {same} at sea.",
        contradicted="To apply for the pilot's job in {town}, one must have {other} at sea.",
        nothing="To apply for the captain's job in {town}, one must have {same} at sea.",
        slots={
            "firm": FIRMS,
            "town": TOWNS,
            "m": MONTHS,
            "d": ("4", "12", "19", "26"),
            "rule same other": [
                ("at least five years", "no fewer than 5 years", "no more than 5 years"),
                ("a minimum of eight years", "8 years or more", "8 years or less"),
                ("more than three years", "over 3 years", "under 3 years"),
                ("at least ten years", "10 or more years", "exactly 10 years"),
                ("no less than six years", "at least 6 years", "at most 6 years"),
            ],
        },
    ),
    Template(
        name="book-loan-limit",
        kind="quantifiers",
        evidence="Readers at the university library in {town} keep a loan for {w} weeks. Students may have at most "
        "{a} books out at once, lecturers at most {b}. Fines were abolished in {y}.",
        supported="A student in {town} is not allowed more than {aw} books at a time.",
        contradicted="A student in {town} is allowed more than {aw} books at a time.",
        nothing="A student in {town} is not allowed more than {aw} films at a time.",
        slots={
            "town": TOWNS,
            "w": ("three", "four", "six"),
            "y": YEARS[-4:],
            "a b aw": [
                ("six", "20", "6"),
                ("10", "25", "ten"),
                ("eight", "30", "8"),
                ("12", "40", "twelve"),
                ("15", "50", "fifteen"),
            ],
        },
    ),
    Template(
        name="museum-free-entry",
        kind="quantifiers",
        evidence="The railway museum in {town} charges adults {p} euros. Every visitor under {n} gets in free of "
        "charge. The café seats {c}.",
        supported="No child younger than {n} has to pay at the railway museum in {town}.",
        contradicted="Every child younger than {n} has to pay at the railway museum in {town}.",
        nothing="No child younger than {n} has to be accompanied at the railway museum in {town}.",
        slots={
            "town": TOWNS,
            "p": ("7", "9", "11"),
            "n": ("10", "12", "14", "6", "16"),
            "c": COUNTS,
        },
    ),
    Template(
        name="runoff-neither",
        kind="quantifiers",
        evidence="In the first round in {town}, {one} received {a} percent of the vote and {two} {b} percent. The rest "
        "was shared by five others. To be elected, a candidate needs more than half.",
        supported="{same} of the two, {one} and {two}, won outright in the first round in {town}.",
        contradicted="{other} of the two, {one} and {two}, won outright in the first round in {town}.",
        nothing="{same} of the two, {one} and {two}, had held office before the first round in {town}.",
        slots={
            "town": TOWNS,
            "one two": PEOPLE,
            "a b same other": [
                ("41", "37", "Neither", "One"),
                ("52", "30", "One", "Neither"),
                ("46", "28", "Neither", "One"),
                ("33", "57", "One", "Neither"),
            ],
        },
    ),
    Template(
        name="peaks-all-but-one",
        kind="quantifiers",
        evidence="The range in the south of {land} has {n} named peaks. {res} The snow line lies at {s} metres.",
        supported="{same} in the southern range of {land} rises above 3,000 metres.",
        contradicted="{other} in the southern range of {land} rises above 3,000 metres.",
        nothing="{same} in the southern range of {land} has been climbed in winter.",
        slots={
            "land": COUNTRIES,
            "n": ("nine", "twelve", "seven", "fifteen"),
            "s": ("2,600", "2,750", "2,900"),
            "res same other": [
                ("They are all more than 3 km high.", "Every named peak", "Only one named peak"),
                ("A single one of them exceeds 3 km in height.", "Only one named peak", "Every named peak"),
                ("The highest of them reaches 2,940 metres.", "Not one named peak", "At least one named peak"),
                ("The highest of them reaches 3,310 metres.", "At least one named peak", "Not one named peak"),
            ],
        },
    ),
    Template(
        name="trial-dropouts",
        kind="quantifiers",
        evidence="Of the {n} patients who began the study of {drug} in {town}, {k} left before it ended. The mean age "
        "was {a}. The sponsor was {firm}.",
        supported="{same} of the patients in the study of {drug} in {town} dropped out.",
        contradicted="{other} of the patients in the study of {drug} in {town} dropped out.",
        nothing="{same} of the patients in the study of {drug} in {town} smoked.",
        slots={
            "drug": DRUGS,
            "town": TOWNS,
            "firm": FIRMS,
            "a": ("44", "51", "58", "63"),
            "n k same other": [
                ("400", "31", "Fewer than one in ten", "More than one in ten"),
                ("250", "70", "More than a quarter", "Less than a quarter"),
                ("300", "150", "Half", "A tenth"),
                ("500", "100", "One fifth", "One half"),
                ("320", "190", "The majority", "A small minority"),
                ("640", "none", "Not one", "Some"),
            ],
        },
    ),
    Template(
        name="wasp-sting",
        kind="quantifiers",
        evidence="A wasp found near {town} in {y} was described by {who}. {res} Its nests hang from reeds.",
        supported="Among the wasps from {town}, {same}.",
        contradicted="Among the wasps from {town}, {other}.",
        nothing="Among the wasps from {town}, only the females live through the winter.",
        slots={
            "town": TOWNS,
            "y": YEARS,
            "who": PEOPLE,
            "res same other": [
                ("Only the females can sting.", "no male is able to sting", "every male is able to sting"),
                ("Both sexes can sting.", "males and females alike can sting", "only females can sting"),
                ("Males have wings, females do not.", "only males have wings", "all individuals have wings"),
                ("Both sexes have wings.", "males and females alike have wings", "only males have wings"),
            ],
        },
    ),
    Template(
        name="teachers-poll",
        kind="quantifiers",
        evidence="A union asked {n} teachers in {land} about tablets in class. {a} of them were in favour, {b} were "
        "against and the remainder had no opinion. Answers were collected by post.",
        supported="{same} teachers who answered the union in {land} favoured tablets than opposed them.",
        contradicted="{other} teachers who answered the union in {land} favoured tablets than opposed them.",
        nothing="{same} teachers who answered the union in {land} favoured longer holidays than opposed them.",
        slots={
            "land": COUNTRIES,
            "n a b same other": [
                ("500", "310", "120", "More", "Fewer"),
                ("800", "240", "470", "Fewer", "More"),
                ("1,200", "690", "330", "A greater number of", "A smaller number of"),
                ("350", "90", "205", "A smaller number of", "A greater number of"),
                ("640", "150", "400", "Far fewer", "Far more"),
            ],
        },
    ),
    Template(
        name="express-stops",
        kind="quantifiers",
        evidence="Between {one} and {two} the line has {n} stations, {c} km of tunnel and one summit. Local trains "
        "call at every station. {res}",
        supported="The express calls at {same} stations between {one} and {two}.",
        contradicted="The express calls at {other} stations between {one} and {two}.",
        nothing="Lifts have been built at {same} stations between {one} and {two}.",
        slots={
            "one two": TOWNS,
            "c": ("4", "7", "9"),
            "n res same other": [
                ("14", "Express trains call at two of them.", "few of the", "most of the"),
                ("12", "Express trains leave out just one of them.", "most of the", "few of the"),
                ("16", "Express trains skip every second one.", "half of the", "all of the"),
                ("18", "Express trains run through without a stop.", "none of the", "some of the"),
                ("15", "Express trains serve six of them.", "some of the", "none of the"),
            ],
        },
    ),
    Template(
        name="shareholders-unanimous",
        kind="quantifiers",
        evidence="{n} shareholders of {firm} met in {town} on {d} {m}. {res} Coffee was served at the end.",
        supported="The merger had the support of {same} at the meeting of {firm} in {town}.",
        contradicted="The merger had the support of {other} at the meeting of {firm} in {town}.",
        nothing="The dividend had the support of {same} at the meeting of {firm} in {town}.",
        slots={
            "n": ("Sixty", "Eighty", "Ninety"),
            "firm": FIRMS,
            "town": TOWNS,
            "d": ("5", "13", "22"),
            "m": MONTHS,
            "res same other": [
                ("They backed the merger unanimously.", "all shareholders", "only some shareholders"),
                ("They threw out the merger unanimously.", "no shareholder", "every shareholder"),
                ("Three quarters of them voted for the merger.", "most shareholders", "a minority of shareholders"),
                ("Just a tenth of them voted for the merger.", "a minority of shareholders", "most shareholders"),
                ("A dozen of them voted against the merger.", "fewer than all shareholders", "all shareholders"),
            ],
        },
    ),
    Template(
        name="lake-depths",
        kind="quantifiers",
        evidence="Two lakes lie above {town}. The Upper Lake is {a} metres deep, the Lower Lake {b} metres. Both "
        "freeze in {m}, and trout are caught in the lower one.",
        supported="Above {town}, the Upper Lake is {same} the Lower Lake.",
        contradicted="Above {town}, the Upper Lake is {other} the Lower Lake.",
        nothing="Above {town}, the Upper Lake's shore is twice as long as that of the Lower Lake.",
        slots={
            "town": TOWNS,
            "m": ("January", "February"),
            "a b same other": [
                ("40", "20", "twice as deep as", "half as deep as"),
                ("15", "30", "half as deep as", "twice as deep as"),
                ("60", "20", "three times as deep as", "only a third as deep as"),
                ("18", "54", "only a third as deep as", "three times as deep as"),
                ("33", "33", "no deeper than", "much deeper than"),
                ("48", "12", "much deeper than", "no deeper than"),
            ],
        },
    ),
    Template(
        name="school-meals",
        kind="quantifiers",
        evidence="The canteen of the school in {town} serves {n} dishes a week, cooked by {who} and two helpers. {k} "
        "of them contain meat or fish; the others are vegetarian. A meal costs {p} euros.",
        supported="At the school in {town}, {same} dishes each week are vegetarian.",
        contradicted="At the school in {town}, {other} dishes each week are vegetarian.",
        nothing="At the school in {town}, {same} dishes each week are free of nuts.",
        slots={
            "town": TOWNS,
            "who": PEOPLE,
            "p": ("3", "4", "5"),
            "n k same other": [
                ("15", "Five", "exactly ten", "exactly five"),
                ("20", "Twelve", "fewer than ten", "more than ten"),
                ("10", "Four", "at least six", "at most four"),
                ("18", "Three", "more than a dozen", "fewer than a dozen"),
                ("12", "Ten", "only two", "as many as ten"),
                ("16", "Eight", "half of the", "nearly all the"),
            ],
        },
    ),
    # Claims that need two sentences of the evidence together.
    Template(
        name="fleet-sum",
        kind="numbers",
        evidence="The ferry company of {town} was founded in {y}. It owns {a} car ferries. For the summer it also "
        "keeps {b} passenger boats, and it has no other vessels. Its staff numbers {c}.",
        supported="In total the ferry company of {town} has {s} vessels.",
        contradicted="In total the ferry company of {town} has {x} vessels.",
        nothing="In winter the ferry company of {town} leases {s} vessels.",
        slots={
            "town": TOWNS,
            "y": YEARS,
            "c": ("210", "340", "155"),
            "a b s x": [
                ("six", "eight", "14", "8"),
                ("nine", "four", "thirteen", "nine"),
                ("12", "seven", "nineteen", "twelve"),
                ("five", "six", "eleven", "fifteen"),
                ("15", "10", "25", "35"),
                ("seven", "three", "ten", "seven"),
            ],
        },
    ),
    Template(
        name="collection-growth",
        kind="numbers",
        evidence="The clock museum in {town} started in {y} with {a} clocks. Its founder, {who}, never bought another. "
        "A bequest ten years later brought {b} more, and nothing has been added or removed since. Visits last "
        "{c} minutes on average.",
        supported="{s} clocks now belong to the museum in {town}.",
        contradicted="{x} clocks now belong to the museum in {town}.",
        nothing="{s} clocks at the museum in {town} still keep time.",
        slots={
            "town": TOWNS,
            "who": PEOPLE,
            "y": ("1925", "1938", "1949", "1957", "1963"),
            "c": COUNTS,
            "a b s x": [
                ("140", "60", "Two hundred", "One hundred and forty"),
                ("220", "80", "300", "220"),
                ("310", "95", "405", "315"),
                ("75", "50", "125", "75"),
                ("480", "120", "Six hundred", "Five hundred"),
                ("1,100", "400", "1,500", "1,100"),
            ],
        },
    ),
    Template(
        name="mayor-age",
        kind="numbers",
        evidence="{who} was born on 1 January {b} and trained as a vet in {land}. {they} later became mayor of {town}. "
        "That was on {d} {m} {e}, after two failed attempts.",
        supported="At the age of {a}, {who} became mayor of {town}.",
        contradicted="At the age of {x}, {who} became mayor of {town}.",
        nothing="At the age of {a}, {who} had three children.",
        slots={
            "who they": [*((w, "She") for w in WOMEN), *((m, "He") for m in MEN)],
            "land": COUNTRIES,
            "town": TOWNS,
            "d": ("3", "11", "24"),
            "m": MONTHS,
            "b e a x": [
                ("1920", "1961", "41", "61"),
                ("1934", "1972", "38", "54"),
                ("1941", "1996", "55", "45"),
                ("1950", "1979", "29", "39"),
                ("1908", "1958", "fifty", "forty"),
                ("1962", "2008", "46", "36"),
            ],
        },
    ),
    Template(
        name="school-difference",
        kind="numbers",
        evidence="Two primary schools stand in {town}. Mill School has {a} pupils and {c} teachers. Hill School, its "
        "neighbour, has {b} fewer pupils. Both open at eight.",
        supported="Hill School in {town} is attended by {s} children.",
        contradicted="Hill School in {town} is attended by {x} children.",
        nothing="At Hill School in {town}, {s} children stay for lunch.",
        slots={
            "town": TOWNS,
            "c": COUNTS[:5],
            "a b s x": [
                ("320", "70", "250", "390"),
                ("410", "110", "300", "410"),
                ("275", "75", "two hundred", "three hundred"),
                ("540", "140", "four hundred", "five hundred"),
                ("190", "40", "150", "230"),
                ("365", "45", "320", "365"),
            ],
        },
    ),
    Template(
        name="survey-lead-pronoun",
        kind="names",
        evidence="{w} and {v} surveyed the caves of {town} in {y}. {p} drew the maps, while {q} took the photographs. "
        "The county paid for both.",
        supported="The maps of the caves of {town} were the work of {a}.",
        contradicted="The maps of the caves of {town} were the work of {b}.",
        nothing="The first to enter the caves of {town} was {a}.",
        slots={
            "town": TOWNS,
            "y": YEARS,
            "w v p q a b": [
                *((w, m, "She", "he", w, m) for w, m in zip(WOMEN, MEN, strict=True)),
                *((m, w, "He", "she", m, w) for w, m in zip(WOMEN, MEN, strict=True)),
                *((w, m, "He", "she", m, w) for w, m in zip(WOMEN, reversed(MEN), strict=True)),
            ],
        },
    ),
    Template(
        name="successor-chief",
        kind="names",
        evidence="{one} ran {firm} until {y}. {two} was finance director at the time. When the former retired, the "
        "latter took over as chief executive and moved the head office to {town}.",
        supported="The head office of {firm} was brought to {town} by {two}.",
        contradicted="The head office of {firm} was brought to {town} by {one}.",
        nothing="The foundation stone of the head office of {firm} in {town} was laid by {two}.",
        slots={"one two": PEOPLE, "firm": FIRMS, "y": YEARS, "town": TOWNS},
    ),
    Template(
        name="election-margin",
        kind="names",
        evidence="Two candidates stood for head librarian in {town}. {one} received {a} votes. {two}, backed by "
        "{three}, received {b}. The post went to whoever had more.",
        supported="{one} did not lose the election for head librarian in {town}; {two} did.",
        contradicted="{two} did not lose the election for head librarian in {town}; {one} did.",
        nothing="{three} did not vote in the election for head librarian in {town}; {two} did.",
        slots={
            "town": TOWNS,
            "one two three": PEOPLE,
            "a b": [("41", "28"), ("57", "36"), ("23", "17"), ("79", "62"), ("93", "85"), ("131", "104")],
        },
    ),
    Template(
        name="placebo-group",
        kind="negation",
        evidence="The patients in {town} were split into a morning group and an evening group. The former received "
        "{drug}. The latter were given a placebo for all {n} days. Neither knew which it was.",
        supported="In {town}, the {same}.",
        contradicted="In {town}, the {other}.",
        nothing="In {town}, the evening group did not complain of headaches.",
        slots={
            "town": TOWNS,
            "drug same other": [
                *(
                    (d, f"evening group was not treated with {d}", f"evening group was treated with {d}")
                    for d in DRUGS[:4]
                ),
                *(
                    (d, f"morning group was treated with {d}", f"morning group was not treated with {d}")
                    for d in DRUGS[4:]
                ),
            ],
            "n": COUNTS,
        },
    ),
    Template(
        name="station-open",
        kind="negation",
        evidence="The line from {one} to {two} is closed for works from {m} to the spring. All stations along it are "
        "shut for that time except Mill Lane. Quarry Road, like Mill Lane, is on this line.",
        supported="During the works between {one} and {two}, {same}.",
        contradicted="During the works between {one} and {two}, {other}.",
        nothing="During the works between {one} and {two}, drivers will not be paid.",
        slots={
            "one two": TOWNS,
            "m": ("September", "October", "November"),
            "same other": [
                ("Quarry Road station is not open", "Quarry Road station is open"),
                ("Mill Lane station is not closed", "Mill Lane station is closed"),
                ("Mill Lane station stays open", "Mill Lane station does not stay open"),
                ("one cannot enter Quarry Road station", "one can enter Quarry Road station"),
            ],
        },
    ),
    Template(
        name="beetle-protected",
        kind="negation",
        evidence="In {land}, beetles on the red list may not be collected. {res} The insect lives among reeds and was "
        "first described by {who} in {y}.",
        supported="Collecting the marsh beetle {same} in {land}.",
        contradicted="Collecting the marsh beetle {other} in {land}.",
        nothing="Photographing the marsh beetle {same} in {land}.",
        slots={
            "land": COUNTRIES,
            "who": PEOPLE,
            "y": YEARS,
            "res same other": [
                ("The marsh beetle has been on that list since 2011.", "is not permitted", "is permitted"),
                ("The marsh beetle was added to that list in 2015.", "is forbidden", "is not forbidden"),
                ("The marsh beetle is on it.", "is not legal", "is legal"),
                ("One of them is the marsh beetle.", "is against the law", "is not against the law"),
            ],
        },
    ),
)
