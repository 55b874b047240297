"""Templates to teach a verifier with: negation and opposites."""

from training.challenge_fill import CLUBS, COUNTRIES, COUNTS, DRUGS, FIRMS, MONTHS, PEOPLE, TOWNS, YEARS, Template

_DAYS = ("2", "5", "8", "12", "15", "19", "22", "26")
_ILLS = ("gout", "sciatica", "tennis elbow", "shingles", "arthritis", "lower back strain")
_MAKERS = ("Luma Systems", "Norvane", "Tindra Mobile", "Oakline", "Brightwell", "Kestrel Devices")

TEMPLATES: tuple[Template, ...] = (
    Template(
        name="pain-placebo",
        kind="negation",
        evidence="A study in {town} tested {drug} in {n} adults with {ill} over twelve weeks. Sleep improved in those "
        "who took it, but their pain scores were no better than with a placebo. {k} people dropped out.",
        supported="Against {ill}, {drug} failed to ease pain more than a placebo did.",
        contradicted="Against {ill}, {drug} managed to ease pain more than a placebo did.",
        nothing="Against {ill}, {drug} failed to lower inflammation more than a placebo did.",
        slots={"town": TOWNS, "drug": DRUGS, "n": ("212", "348", "506"), "ill": _ILLS, "k": COUNTS},
    ),
    Template(
        name="flat-search",
        kind="negation",
        evidence="On {m} {d} the appeals court in {town} set aside the sentence of {n} months against {who}. Officers "
        "had searched the flat without a warrant, the judges found, and the {k} documents seized there could not be "
        "used at trial.",
        supported="The police had no warrant when they went through the home of {who}.",
        contradicted="The police had a warrant when they went through the home of {who}.",
        nothing="The police had no informant when they looked into the affairs of {who}.",
        slots={"m": MONTHS, "d": _DAYS, "town": TOWNS, "n": COUNTS, "k": ("31", "120", "208"), "who": PEOPLE},
    ),
    Template(
        name="minister-stays",
        kind="negation",
        evidence="An audit of {y} found that {n} million dollars for roads in {land} had gone missing. Transport "
        "minister {who} {did}. The opposition leader, {two}, called for an inquiry.",
        supported="After the audit, minister {who} {same}.",
        contradicted="After the audit, minister {who} {other}.",
        nothing="After the audit, minister {who} did not speak to {two}.",
        slots={
            "y": ("2009", "2013", "2018"),
            "n": COUNTS,
            "land": COUNTRIES,
            "who two": PEOPLE,
            "did same other": [
                ("turned down every call to resign and is still in office", "did not step down", "stepped down"),
                ("handed in a letter of resignation that evening", "stepped down", "did not step down"),
                ("refused to go and has kept the post to this day", "never resigned", "resigned"),
                ("quit within a week of its publication", "resigned", "never resigned"),
            ],
        },
    ),
    Template(
        name="cave-fish",
        kind="negation",
        evidence="The cave fish of {town} was described in {y} by {who}. It grows to {n} millimetres and finds its "
        "prey by touch. Unlike its relatives in the river, it lacks {lost}; its {kept}, however, are well developed.",
        supported="The fish living in the caves of {town} {same}.",
        contradicted="The fish living in the caves of {town} {other}.",
        nothing="The fish living in the caves of {town} has no natural enemies.",
        slots={
            "town": TOWNS,
            "y": YEARS,
            "who": PEOPLE,
            "n": COUNTS,
            "lost kept same other": [
                ("eyes", "scales", "has no eyes", "has eyes"),
                ("eyes", "scales", "has scales", "has no scales"),
                ("scales", "teeth", "is without scales", "is covered in scales"),
                ("scales", "teeth", "has teeth", "has no teeth"),
                ("teeth", "barbels", "does not have teeth", "does have teeth"),
                ("teeth", "barbels", "does have barbels", "does not have barbels"),
            ],
        },
    ),
    Template(
        name="powder-solvent",
        kind="negation",
        evidence="The laboratory of {firm} stirred {n} grams of the {colour} powder into {wet} at 40 °C; after an hour "
        "all of it still lay at the bottom of the flask. In {dry} the same amount was gone within two minutes, leaving "
        "a clear solution.",
        supported="According to {firm}'s test, the {colour} powder {same}.",
        contradicted="According to {firm}'s test, the {colour} powder {other}.",
        nothing="According to {firm}'s test, the {colour} powder does not burn.",
        slots={
            "firm": FIRMS,
            "n": ("5", "12", "20", "35"),
            "colour": ("white", "grey", "yellow", "green", "reddish"),
            "wet dry same other": [
                ("water", "ethanol", "did not dissolve in water", "dissolved in water"),
                ("water", "ethanol", "dissolved in ethanol", "did not dissolve in ethanol"),
                ("acetone", "water", "could not be dissolved in acetone", "could be dissolved in acetone"),
                ("acetone", "water", "could be dissolved in water", "could not be dissolved in water"),
            ],
        },
    ),
    Template(
        name="phone-updates",
        kind="negation",
        evidence="{firm} launched the {old} in {y}; {n} thousand were sold in the first week. Security updates for it "
        "stopped last {m}. Owners of the {new}, which came out two years later, go on receiving them every month.",
        supported="Security updates for the {old} are no longer being issued by {firm}.",
        contradicted="Security updates for the {old} are still being issued by {firm}.",
        nothing="Spare parts for the {old} are no longer being made by {firm}.",
        slots={
            "firm": _MAKERS,
            "old new": ("Vela 3", "Orbit S", "Nimbus 10", "Pico Max", "Strand 7", "Echo Lite"),
            "y": ("2011", "2014", "2016"),
            "n": COUNTS,
            "m": MONTHS,
        },
    ),
    Template(
        name="penalty-kick",
        kind="negation",
        evidence="{one} and {two} drew 2–2 on {m} {d}. In the {n}th minute {who} took a penalty for {one}: {did}. "
        "{other_who} was sent off shortly before the end.",
        supported="{who} {same} from the penalty spot against {two}.",
        contradicted="{who} {wrong} from the penalty spot against {two}.",
        nothing="{who} did not play the whole match against {two}.",
        slots={
            "one two": CLUBS,
            "m": MONTHS,
            "d": _DAYS,
            "n": ("54", "67", "78", "85"),
            "who other_who": PEOPLE,
            "did same wrong": [
                ("the keeper dived the wrong way, but the ball flew over the bar", "did not score", "scored"),
                (
                    "the keeper got a hand to the ball, yet it rolled over the line and the goal stood",
                    "scored",
                    "did not score",
                ),
                ("the shot struck the post and was cleared", "failed to score", "scored"),
                ("the ball went in off the post", "scored", "failed to score"),
            ],
        },
    ),
    Template(
        name="key-rate",
        kind="negation",
        evidence="The central bank of {land} met on {m} {d} under its new governor, {who}. {did} Inflation stood at "
        "{p} percent in the month before.",
        supported="At the {m} meeting, the central bank of {land} {same} its key interest rate.",
        contradicted="At the {m} meeting, the central bank of {land} {other} its key interest rate.",
        nothing="At the {m} meeting, the central bank of {land} did not change its growth forecast.",
        slots={
            "land": COUNTRIES,
            "m": MONTHS,
            "d": _DAYS,
            "who": PEOPLE,
            "p": ("2.1", "3.4", "4.8"),
            "did same other": [
                (
                    "Most analysts had expected a cut, yet the key rate was kept at 3.5 percent.",
                    "did not lower",
                    "lowered",
                ),
                ("The key rate, until then 3.5 percent, now stands at 3 percent.", "lowered", "did not lower"),
                ("It left the key rate at 4 percent, although many had predicted 4.25.", "did not raise", "raised"),
                ("The key rate went from 4 to 4.25 percent, as many had predicted.", "raised", "did not raise"),
            ],
        },
    ),
    Template(
        name="dam-cracks",
        kind="negation",
        evidence="After the flood of {y}, engineers led by {who} inspected the dams at {one} and {two}. Neither showed "
        "any cracks. At {one} a gate had jammed, and {n} lorryloads of driftwood were taken out of the reservoir.",
        supported="The dam at {two} was free of cracks when it was inspected.",
        contradicted="The dam at {two} had cracks when it was inspected.",
        nothing="The dam at {two} was not in use when the flood began.",
        slots={"y": YEARS, "who": PEOPLE, "one two": TOWNS, "n": COUNTS},
    ),
    Template(
        name="cake-recipe",
        kind="negation",
        evidence="{who}'s plum cake won a prize at the fair in {town} in {y}. The batter gets by without {none}; {n} "
        "grams of {some} go in instead. It bakes for 50 minutes and keeps for four days.",
        supported="The batter of {who}'s cake {same}.",
        contradicted="The batter of {who}'s cake {other}.",
        nothing="The batter of {who}'s cake does not contain any nuts.",
        slots={
            "who": PEOPLE,
            "town": TOWNS,
            "y": YEARS,
            "n": ("80", "120", "200"),
            "none some same other": [
                ("eggs", "yoghurt", "is made with no eggs", "is made with eggs"),
                ("eggs", "yoghurt", "is made with yoghurt", "is made with no yoghurt"),
                ("sugar", "honey", "contains no sugar", "contains sugar"),
                ("sugar", "honey", "contains honey", "contains no honey"),
            ],
        },
    ),
    Template(
        name="measles-ship",
        kind="negation",
        evidence="A ship from {land} docked at {town} on {d} {m} with {n} passengers. Doctors tested all of them for "
        "measles. {found} {k} crew members were treated for sunburn.",
        supported="The doctors in {town} {same} among the passengers from {land}.",
        contradicted="The doctors in {town} {other} among the passengers from {land}.",
        nothing="The doctors in {town} found no cases of flu among the passengers from {land}.",
        slots={
            "land": COUNTRIES,
            "town": TOWNS,
            "d": _DAYS,
            "m": MONTHS,
            "n": ("214", "388", "640", "1,120"),
            "k": ("Three", "Five", "Eight"),
            "found same other": [
                ("Nobody was infected.", "found no cases of measles", "found cases of measles"),
                ("Every result was negative.", "did not detect measles", "detected measles"),
                ("Four results were positive.", "found cases of measles", "found no cases of measles"),
                ("Two families proved to be infected.", "detected measles", "did not detect measles"),
            ],
        },
    ),
    Template(
        name="jury-fraud",
        kind="negation",
        evidence="The jury in {town} took {n} hours to reach its verdict. It {did} {one} of defrauding {firm}. A "
        "second defendant, {two}, had died in {m} before the trial began.",
        supported="The jury {same} {one} guilty of fraud.",
        contradicted="The jury {other} {one} guilty of fraud.",
        nothing="The jury did not believe the witnesses called by {one}.",
        slots={
            "town": TOWNS,
            "n": COUNTS,
            "one two": PEOPLE,
            "firm": FIRMS,
            "m": MONTHS,
            "did same other": [
                ("cleared", "did not find", "found"),
                ("acquitted", "did not declare", "declared"),
                ("convicted", "found", "did not find"),
            ],
        },
    ),
    Template(
        name="treaty-ratified",
        kind="negation",
        evidence="The treaty on river fishing was drafted in {town}. {one} and {two} both signed it in {y}. The "
        "parliament of {two} ratified it {n} weeks later; that of {one} has put off the vote ever since.",
        supported="{one} has not ratified the fishing treaty.",
        contradicted="{one} has ratified the fishing treaty.",
        nothing="{one} has not kept to the catch limits of {two}.",
        slots={"town": TOWNS, "one two": COUNTRIES, "y": YEARS, "n": COUNTS},
    ),
    Template(
        name="old-seeds",
        kind="negation",
        evidence="In {y} a jar with {n} seeds of a {plant} was found in a cellar in {town}; it was some two centuries "
        "old. {who} soaked them and set them in warm soil. Within three weeks the first green shoots came up.",
        supported="The {plant} seeds from the cellar in {town} were still capable of sprouting.",
        contradicted="The {plant} seeds from the cellar in {town} were no longer capable of sprouting.",
        nothing="The {plant} seeds from the cellar in {town} had never been exposed to frost.",
        slots={
            "y": ("1988", "1996", "2003", "2014"),
            "n": COUNTS,
            "plant": ("lupin", "melon", "bean", "mallow"),
            "town": TOWNS,
            "who": PEOPLE,
        },
    ),
    Template(
        name="probe-signal",
        kind="negation",
        evidence="The space probe {probe} was launched in {y} and carries {n} kilograms of instruments. A fault in its "
        "transmitter was reported on {m} {d}. {then}",
        supported="After the fault was reported, controllers {same} contact with {probe}.",
        contradicted="After the fault was reported, controllers {other} contact with {probe}.",
        nothing="Controllers have never been able to photograph an asteroid with {probe}.",
        slots={
            "probe": ("Halcyon", "Tern 2", "Pathlight", "Sable", "Ceres Scout", "Lodestar"),
            "y": ("1988", "1996", "2003", "2011"),
            "n": COUNTS,
            "m": MONTHS,
            "d": _DAYS,
            "then same other": [
                ("Nothing has been heard from it since.", "no longer had", "still had"),
                (
                    "It was switched to a spare, and data have reached the ground every day since.",
                    "still had",
                    "no longer had",
                ),
                ("All later attempts to contact it have failed.", "lost", "did not lose"),
                ("A spare took over, and it has answered every call since then.", "did not lose", "lost"),
            ],
        },
    ),
    Template(
        name="marathon-start",
        kind="negation",
        evidence="{one}, the winner of {y}, has pulled out of Sunday's marathon in {town} because of a sore knee. "
        "{two} has recovered from a cold and is fit to start. Some {n} hundred runners have signed up.",
        supported="On Sunday, the marathon in {town} will take place without {one}.",
        contradicted="On Sunday, the marathon in {town} will take place with {one}.",
        nothing="{two} has never finished the marathon in {town} ahead of {one}.",
        slots={"one two": PEOPLE, "y": ("2016", "2019", "2022"), "town": TOWNS, "n": COUNTS},
    ),
    Template(
        name="wage-talks",
        kind="negation",
        evidence="{firm} and the union negotiated through the night in {town}. The union, led by {who}, had asked for "
        "{n} euros more a week, and the firm had offered half of that. {end}",
        supported="The wage talks at {firm} in {town} {same} a deal.",
        contradicted="The wage talks at {firm} in {town} {other} a deal.",
        nothing="The union at {firm} in {town} will not go on strike before the summer.",
        slots={
            "firm": FIRMS,
            "town": TOWNS,
            "who": PEOPLE,
            "n": COUNTS,
            "end same other": [
                ("At dawn both sides left without an agreement.", "did not produce", "produced"),
                ("At dawn both sides signed an agreement.", "produced", "did not produce"),
                ("Neither side gave way, and the talks collapsed.", "failed to bring about", "brought about"),
                ("Both gave way a little, and a contract was signed.", "brought about", "failed to bring about"),
            ],
        },
    ),
    Template(
        name="library-fee",
        kind="negation",
        evidence="From {m}, the public library in {town} has new rules. {free} no longer have to pay the yearly fee of "
        "{n} euros; {pay} are still charged. Up to six books may be taken out at once, says its head, {who}.",
        supported="In {town}, {lower} {same} the library's yearly fee.",
        contradicted="In {town}, {lower} {other} the library's yearly fee.",
        nothing="In {town}, {lower} do not have to pay for computer courses at the library.",
        slots={
            "m": MONTHS,
            "town": TOWNS,
            "n": ("14", "17", "23", "28"),
            "who": PEOPLE,
            "free pay lower same other": [
                ("Pensioners", "students", "pensioners", "do not have to pay", "have to pay"),
                ("Pensioners", "students", "students", "have to pay", "do not have to pay"),
                ("Students", "teachers", "teachers", "are not exempt from", "are exempt from"),
                ("Students", "teachers", "students", "are exempt from", "are not exempt from"),
            ],
        },
    ),
    Template(
        name="antibiotic-compare",
        kind="opposites",
        evidence="Doctors in {land} compared two antibiotics in {n} patients with pneumonia. Of those treated with "
        "{one}, {a} percent were cured within ten days; with {two} it was {b} percent. Both were given as tablets.",
        supported="Against pneumonia, {two} turned out to be {same} effective than {one}.",
        contradicted="Against pneumonia, {two} turned out to be {other} effective than {one}.",
        nothing="In children with pneumonia, {two} is {same} likely than {one} to cause a rash.",
        slots={
            "land": COUNTRIES,
            "n": ("240", "418", "976"),
            "one two": DRUGS,
            "a b same other": [
                ("84", "61", "less", "more"),
                ("58", "79", "more", "less"),
                ("91", "70", "less", "more"),
                ("66", "88", "more", "less"),
            ],
        },
    ),
    Template(
        name="appeal-ruling",
        kind="opposites",
        evidence="In {y} a district judge in {town} ordered {firm} to pay {n} thousand crowns to {who} for unfair "
        "dismissal. The firm appealed. The higher court {did} the order on {m} {d}.",
        supported="The higher court {same} the ruling against {firm} in the case of {who}.",
        contradicted="The higher court {other} the ruling against {firm} in the case of {who}.",
        nothing="The higher court {same} an earlier ruling against {firm} about working hours.",
        slots={
            "y": YEARS,
            "town": TOWNS,
            "firm": FIRMS,
            "n": COUNTS,
            "who": PEOPLE,
            "m": MONTHS,
            "d": _DAYS,
            "did same other": [
                ("upheld", "confirmed", "overturned"),
                ("quashed", "overturned", "confirmed"),
                ("affirmed", "upheld", "threw out"),
                ("set aside", "threw out", "upheld"),
            ],
        },
    ),
    Template(
        name="scooter-rule",
        kind="opposites",
        evidence="Since {m}, electric scooters {may} on the pavements of {town}. {why} The new rule was proposed by "
        "{who}; those who break it pay {n} euros.",
        supported="Riding an electric scooter on the pavement is {same} in {town}.",
        contradicted="Riding an electric scooter on the pavement is {other} in {town}.",
        nothing="Riding an electric scooter without a helmet is {same} in {town}.",
        slots={
            "m": MONTHS,
            "town": TOWNS,
            "who": PEOPLE,
            "n": COUNTS,
            "may why same other": [
                ("have been prohibited", "They must use the cycle lanes.", "banned", "allowed"),
                ("may be ridden", "They must keep below walking pace.", "allowed", "banned"),
                ("are no longer tolerated", "Several people had been hurt.", "forbidden", "permitted"),
                ("are no longer banned", "They must give way to walkers.", "permitted", "forbidden"),
            ],
        },
    ),
    Template(
        name="lynx-count",
        kind="opposites",
        evidence="Rangers in the hills near {town} have counted {beast} every winter since {y}. In the first winter "
        "they found {a}, in the latest {b}. About {n} cameras are in use.",
        supported="The number of {beast} near {town} has {same} since counting began.",
        contradicted="The number of {beast} near {town} has {other} since counting began.",
        nothing="The number of rangers near {town} has {same} since counting began.",
        slots={
            "town": TOWNS,
            "beast": ("lynxes", "wolves", "wild goats", "martens", "eagle owls"),
            "y": ("1974", "1988", "1996", "2003"),
            "n": COUNTS,
            "a b same other": [
                ("44", "118", "gone up", "gone down"),
                ("260", "75", "gone down", "gone up"),
                ("some 30", "almost 90", "increased", "decreased"),
                ("over 200", "just 64", "decreased", "increased"),
            ],
        },
    ),
    Template(
        name="lake-acidity",
        kind="opposites",
        evidence="Pupils from {town} took water from {n} ponds in {m}. Water from the quarry pond had a pH of {a} and "
        "that from the mill pond a pH of {b}. Both samples were kept at 20 °C.",
        supported="The quarry pond's water near {town} proved to be {same}.",
        contradicted="The quarry pond's water near {town} proved to be {other}.",
        nothing="The soil around the quarry pond near {town} proved to be {same}.",
        slots={
            "town": TOWNS,
            "n": COUNTS[:4],
            "m": MONTHS,
            "a b same other": [
                ("4.3", "8.6", "acidic", "alkaline"),
                ("9.1", "5.2", "alkaline", "acidic"),
                ("5.1", "7.9", "acidic", "alkaline"),
                ("8.8", "6.0", "alkaline", "acidic"),
            ],
        },
    ),
    Template(
        name="flask-heat",
        kind="opposites",
        evidence="For the demonstration, {who} mixed {n} grams of {salt} with water in a glass flask. The thermometer "
        "read {a} °C before mixing and {b} °C a minute later. The liquid stayed clear.",
        supported="Mixing the {salt} with water {same} the contents of {who}'s flask.",
        contradicted="Mixing the {salt} with water {other} the contents of {who}'s flask.",
        nothing="Adding acid afterwards {same} the contents of {who}'s flask.",
        slots={
            "who": PEOPLE,
            "n": COUNTS,
            "salt a b same other": [
                ("calcium chloride", "19", "41", "warmed", "cooled"),
                ("ammonium nitrate", "21", "6", "cooled", "warmed"),
                ("sodium hydroxide", "18", "47", "heated up", "chilled"),
                ("potassium nitrate", "22", "11", "chilled", "heated up"),
            ],
        },
    ),
    Template(
        name="chip-speed",
        kind="opposites",
        evidence="{firm} tried out two laptops for its staff. The {one}, priced at {p} euros, finished the video test "
        "in {a} seconds. The {two} weighs a little more and needed {b} seconds for the same job.",
        supported="In the test at {firm}, the {two} was {same} than the {one}.",
        contradicted="In the test at {firm}, the {two} was {other} than the {one}.",
        nothing="At starting up, the {two} was {same} than the {one}.",
        slots={
            "firm": FIRMS,
            "one two": ("Arden 14", "Breeze", "Corelia", "Delta Pro", "Everest X"),
            "p": ("690", "940", "1,250"),
            "a b same other": [
                ("48", "73", "slower", "faster"),
                ("95", "52", "faster", "slower"),
                ("61", "118", "slower", "quicker"),
                ("134", "87", "quicker", "slower"),
            ],
        },
    ),
    Template(
        name="league-score",
        kind="opposites",
        evidence="Handball results from {m} {d}: {one} {a}, {two} {b}. {who} scored {n} times in {town}. Next week "
        "both teams play away.",
        supported="{one} {same} their match against {two}.",
        contradicted="{one} {other} their match against {two}.",
        nothing="{one} {same} their previous match against {two}.",
        slots={
            "m": MONTHS,
            "d": _DAYS,
            "one two": CLUBS,
            "who": PEOPLE,
            "n": ("five", "six", "eight"),
            "town": TOWNS,
            "a b same other": [
                ("27", "31", "lost", "won"),
                ("33", "24", "won", "lost"),
                ("19", "20", "lost", "won"),
                ("29", "28", "won", "lost"),
            ],
        },
    ),
    Template(
        name="trade-balance",
        kind="opposites",
        evidence="In {y}, {land} sold goods worth {a} billion dollars abroad and bought foreign goods worth {b} "
        "billion. Machinery made up {n} percent of the exports. Trade with {other_land} hardly changed.",
        supported="{land} recorded a trade {same} for {y}.",
        contradicted="{land} recorded a trade {other} for {y}.",
        nothing="{land} recorded a budget {same} for {y}.",
        slots={
            "y": ("1988", "1996", "2003", "2012"),
            "land other_land": COUNTRIES,
            "n": COUNTS[:6],
            "a b same other": [
                ("41", "58", "deficit", "surplus"),
                ("77", "63", "surplus", "deficit"),
                ("102.5", "119", "deficit", "surplus"),
                ("95", "80.4", "surplus", "deficit"),
            ],
        },
    ),
    Template(
        name="glacier-tongue",
        kind="opposites",
        evidence="The glacier above {town} has been measured since {y}, first by {who}. Over the past twenty years its "
        "tongue has {did} by {n} metres. The hut beside it was closed in {m}.",
        supported="The tongue of the glacier above {town} has {same} in the last two decades.",
        contradicted="The tongue of the glacier above {town} has {other} in the last two decades.",
        nothing="The tongue of another glacier near {town} has {same} in the last two decades.",
        slots={
            "town": TOWNS,
            "y": YEARS[:8],
            "who": PEOPLE,
            "n": COUNTS,
            "m": MONTHS,
            "did same other": [
                ("retreated", "become shorter", "become longer"),
                ("advanced", "become longer", "become shorter"),
                ("pulled back", "shrunk", "grown"),
                ("lengthened", "grown", "shrunk"),
            ],
        },
    ),
    Template(
        name="bakery-hours",
        kind="opposites",
        evidence="{who} runs the bakery by the station in {town}. It serves customers from seven in the morning, "
        "{days}. A loaf of rye bread costs {n} cents more than a white one.",
        supported="The bakery by the station in {town} is {same}.",
        contradicted="The bakery by the station in {town} is {other}.",
        nothing="The café beside the bakery in {town} is {same}.",
        slots={
            "who": PEOPLE,
            "town": TOWNS,
            "n": COUNTS,
            "days same other": [
                ("Tuesday to Sunday, and takes Monday off", "closed on Mondays", "open on Mondays"),
                ("every day but Wednesday", "closed on Wednesdays", "open on Wednesdays"),
                ("every day but Wednesday", "open on Sundays", "closed on Sundays"),
                ("seven days a week", "open on Mondays", "closed on Mondays"),
                ("Monday to Friday only", "shut on Saturdays", "open on Saturdays"),
            ],
        },
    ),
    Template(
        name="nerve-damage",
        kind="opposites",
        evidence="Researchers from {land} gave {drug} to {n} rats with diabetes; as many others got none. Nerve damage "
        "appeared in {a} of the treated rats and in {b} of the untreated ones. Both groups had the same body weight.",
        supported="In diabetic rats, {drug} seemed to {same} nerve damage.",
        contradicted="In diabetic rats, {drug} seemed to {other} nerve damage.",
        nothing="In diabetic rats, {drug} seemed to {same} kidney damage.",
        slots={
            "land": COUNTRIES,
            "drug": DRUGS,
            "n": ("50", "60", "80"),
            "a b same other": [
                ("4", "31", "prevent", "cause"),
                ("37", "9", "cause", "prevent"),
                ("11", "42", "protect against", "promote"),
                ("29", "6", "promote", "protect against"),
            ],
        },
    ),
    Template(
        name="will-order",
        kind="opposites",
        evidence="{who}, a timber merchant in {town}, drew up a will in {a} and sold the sawmill to {two} in {b}. "
        "The house was valued at {n} thousand crowns. A nephew later contested the will in court.",
        supported="{who}'s will was written {same} the sale of the sawmill to {two}.",
        contradicted="{who}'s will was written {other} the sale of the sawmill to {two}.",
        nothing="{who}'s house was bought {same} the sale of the sawmill to {two}.",
        slots={
            "who two": PEOPLE,
            "town": TOWNS,
            "n": COUNTS,
            "a b same other": [
                ("1871", "1879", "before", "after"),
                ("1912", "1905", "after", "before"),
                ("March 1925", "July 1925", "ahead of", "after"),
                ("November 1938", "May 1938", "later than", "earlier than"),
                ("1890", "1893", "earlier than", "later than"),
            ],
        },
    ),
    Template(
        name="coalition-seats",
        kind="opposites",
        evidence="The parliament of {land} has {total} members. Since the election of {m}, the coalition led by {who} "
        "has held {a} of the seats. Turnout reached {n} percent.",
        supported="{who}'s coalition {same} in the parliament of {land}.",
        contradicted="{who}'s coalition {other} in the parliament of {land}.",
        nothing="{who}'s coalition {same} on the city council of the capital of {land}.",
        slots={
            "land": COUNTRIES,
            "m": MONTHS,
            "who": PEOPLE,
            "n": ("57", "62", "79"),
            "total a same other": [
                ("120", "48", "is in the minority", "is in the majority"),
                ("150", "91", "is in the majority", "is in the minority"),
                ("200", "88", "lacks a majority", "has a majority"),
                ("99", "61", "has a majority", "lacks a majority"),
            ],
        },
    ),
    Template(
        name="mouse-hours",
        kind="opposites",
        evidence="The {kind} mouse lives in dry woods near {town}. It {does}. A female has up to {n} young a year. "
        "{who} first described the species in {y}.",
        supported="The {kind} mouse is active {same}.",
        contradicted="The {kind} mouse is active {other}.",
        nothing="The owls that hunt near {town} are active {same}.",
        slots={
            "kind": ("striped", "long-eared", "ash-coloured", "crested", "short-tailed"),
            "town": TOWNS,
            "n": ("14", "17", "23"),
            "who": PEOPLE,
            "y": YEARS,
            "does same other": [
                ("sleeps in its burrow while the sun is up and feeds after dark", "at night", "by day"),
                ("feeds in bright sunshine and goes into its burrow at dusk", "by day", "at night"),
                ("is strictly nocturnal", "in the hours of darkness", "in the hours of daylight"),
                ("is strictly diurnal", "in the hours of daylight", "in the hours of darkness"),
            ],
        },
    ),
    Template(
        name="season-end",
        kind="opposites",
        evidence="{club} finished the season {place} with {n} points. Their coach, {who}, had taken over in {m}. From "
        "August they will play in the {div} division.",
        supported="{club}, coached by {who}, were {same}.",
        contradicted="{club}, coached by {who}, were {other}.",
        nothing="{club} were also {same} ten years ago.",
        slots={
            "club": CLUBS,
            "n": COUNTS,
            "who": PEOPLE,
            "m": ("January", "February", "March"),
            "place div same other": [
                ("at the bottom of the first division", "second", "relegated", "promoted"),
                ("at the top of the second division", "first", "promoted", "relegated"),
                ("last in the second division", "third", "moved down a division", "moved up a division"),
                ("as champions of the third division", "second", "moved up a division", "moved down a division"),
            ],
        },
    ),
    Template(
        name="rain-year",
        kind="opposites",
        evidence="The weather station at {town} has kept records since {y}. On average, {a} millimetres of rain fall "
        "in a year. Last year it was {b} millimetres, {n} of them in {m} alone.",
        supported="Last year was {same} than usual at {town}.",
        contradicted="Last year was {other} than usual at {town}.",
        nothing="Last year was {warm} than usual at {town}.",
        slots={
            "town": TOWNS,
            "y": YEARS[:8],
            "n": COUNTS,
            "m": MONTHS,
            "warm": ("warmer", "colder", "windier", "sunnier"),
            "a b same other": [
                ("610", "340", "drier", "wetter"),
                ("480", "775", "wetter", "drier"),
                ("900", "588", "less rainy", "rainier"),
                ("530", "812", "rainier", "less rainy"),
            ],
        },
    ),
    Template(
        name="train-arrival",
        kind="opposites",
        evidence="The train from {one} was due in {two} at {due}. {who}, who had booked seat {n}, stepped out onto the "
        "platform in {two} at {came}, as soon as it had pulled in.",
        supported="The train from {one} got to {two} {same}.",
        contradicted="The train from {one} got to {two} {other}.",
        nothing="The train from {one} left again from {two} {same}.",
        slots={
            "one two": TOWNS,
            "who": PEOPLE,
            "n": COUNTS,
            "due came same other": [
                ("9:40", "9:33", "early", "late"),
                ("14:05", "14:52", "late", "early"),
                ("18:20", "18:11", "ahead of schedule", "behind schedule"),
                ("7:15", "7:48", "behind schedule", "ahead of schedule"),
            ],
        },
    ),
)
