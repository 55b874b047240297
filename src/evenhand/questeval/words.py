"""Lists of words that the rules for names, numbers, dates and noun phrases go by. English."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MONTHS = (
    "January|February|March|April|May|June|July|August|September|October|November|December"
    "|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec"
)
WEEKDAYS = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"

# Longest first where one begins another: a pattern takes the first that fits.
UNITS = (
    "square kilomet(?:re|er)s?|square met(?:re|er)s?|square miles?|square feet|cubic met(?:re|er)s?|kilomet(?:re|er)s?"
    "|centimet(?:re|er)s?|millimet(?:re|er)s?|nanomet(?:re|er)s?|micromet(?:re|er)s?|met(?:re|er)s?|miles per hour"
    "|miles?|feet|foot|inch(?:es)?|yards?|acres?|hectares?|light-years?|kilograms?|milligrams?|micrograms?|grams?"
    "|tonnes?|tons?|pounds|ounces?|lit(?:re|er)s?|millilit(?:re|er)s?|gallons?|barrels?|kilowatt-hours?|kilowatts?"
    "|megawatts?|gigawatts?|watts?|volts?|hertz|megahertz|gigahertz|degrees Celsius|degrees Fahrenheit|degrees"
    "|kelvins?|joules?|calories|bytes|kilobytes|megabytes|gigabytes|terabytes|bits|seconds?|minutes?|hours?|days?"
    "|weeks?|months?|years?|decades?|centuries|per cent|percent|percentage points|US dollars|dollars?|euros?|pounds"
    "|sterling|yen|yuan|rupees?|francs?|kronor|kroner|pesos?|roubles?|rubles?|marks|cents"
    "|km/h|km²|km2|km|cm|mm|nm|μm|m²|m³|mph|kg|mg|μg|GWh|MWh|kWh|GW|MW|kW|GHz|MHz|kHz|Hz|GB|MB|TB|kB|ml|°C|°F|ft|lb|ha|K|m|g|s"
).replace(" ", r"\s")
SCALES = "hundred|thousand|million|billion|trillion|dozen|mn|bn|m"

NUMBER_WORDS = _words(
    """two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion dozen"""
)
BEFORE_NUMBERS = _words("a one half")

# A name goes on over these where a capital follows.
BETWEEN_NAMES = _words(
    "of the de la le du des van von der den del della di da dos al el bin ibn y zu upon on under and"
)
ON_UNDER = _words("upon on under")
OFFICES = _words(
    """Center Centre Institute Department Society Fund Council Agency Organization Organisation Office Bureau Foundation
    Campaign Committee Association Ministry School Museum Academy Commission University Court Bank Board Union"""
)
TITLES = _words("Dr Mr Mrs Ms Prof St Sir Lord Lady Gen Col Capt Lt Sgt Rev Sen Rep Gov Mt Ft")

# A sentence's first word is no name where it is one of these, whatever follows.
OPENERS = _words(
    """a an the this that these those it its he she they we you i his her their our my your there here in on at by for
    from with without after before during since until when while where if although because though but and or so yet
    however then thus therefore moreover furthermore nevertheless meanwhile instead some many most few several all both
    each every no none not nobody one another other others as to what why how who whom whose which is are was were do
    does did has have had can could will would should may might now today later finally only even also such under over
    between among about around against despite within once unlike like according following including given born known
    named called designed built founded made located based situated written published released opened yesterday
    tomorrow early late earlier recently currently originally initially eventually additionally subsequently
    consequently overall together near nearly almost than through throughout up down out off per via upon whereas
    whether while yes further too just more less much very still never always often sometimes usually whose first second
    third last next previous former new old sure certainly note see let please two three four five six seven eight nine
    ten dozens hundreds thousands millions half nobody everyone someone anyone something anything everything nothing"""
)

# Where a noun phrase may begin: after one of these.
LEADS = _words(
    """a an the this that these those its his her their our my your some any each every no another such both all
    of in on at by for from with without into onto over under between among through during about against as than to
    near via per and or including like toward towards across along within upon despite"""
)
DETERMINERS = _words("a an the this that these those its his her their our my your each every no another some any")

AUXILIARIES = _words(
    """is are was were be been being am has have had do does did will would can could may might must shall should
    became become becomes remains remained seems seemed"""
)

_ADJECTIVES = _words("new old first second third last next previous former early late earlier half given known")

# No word of a noun phrase: what binds, points, and qualifies, and verbs that are met too often to be mistaken.
BREAKS = (
    (OPENERS - _ADJECTIVES)
    | AUXILIARIES
    | _words(
        """him them me us herself itself themselves nor either neither because until again once twice ago away back
    himself well quite rather perhaps maybe already almost mostly mainly largely usually least most best worst same own
    able unable due according said says say told tell asked ask wrote write writes made make makes making took take
    takes taken taking gave give gives given giving got get gets came come comes coming went go goes gone going saw see
    sees seen found find finds left leave leaves led lead leads held hold holds kept keep keeps brought bring brings
    began begin begins begun grew grow grows grown knew know knows known thought think thinks felt feel feels became
    ran run runs won win wins lost lose loses spent spend spends sent send sends met meet meets paid pay pays sold sell
    sells bought buy buys built build builds rose rise rises risen fell fall falls fallen broke break breaks broken
    chose choose chooses chosen drew draw draws drawn drove drive drives driven ate eat eats eaten fought flew fly
    flies flown spoke speak speaks spoken stood stand stands sat sit sits lay lies lie taught teach teaches caught
    catch catches wore wear wears worn shot struck hit hits put puts set sets cut cuts let lets cost costs beat beats
    show shows showed shown use uses used include includes included contain contains contained allow allows allowed
    provide provides provided require requires required consist consists consisted depend depends cause causes caused
    produce produces produced carry carries carried join joins joined serve serves served live lives lived reach
    reaches reached begin start starts started end ended help helps helped need needs needed want wants wanted try
    tries tried mean means meant keep happen happens happened appear appears appeared follow follows followed call
    calls called move moves moved believe believes believed offer offers offered receive receives received"""
    )
)
