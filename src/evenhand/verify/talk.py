"""How an answer talks to its reader without saying anything: greetings, offers, lead-ins, refusals."""

import re

_PARTS = "answer|response|summary|overview|list|explanation|section|article|essay|guide|post|table|breakdown|outline"
_SOURCE = (
    r"(?:the |this |these |your |any )?"
    r"(?:(?:provided|given|supplied|above|available|retrieved|reference|source|input) )?"
    r"(?:context|passage|text|document|article|source|evidence|information|material|excerpt|paragraph|input|data)s?"
    r"(?: (?:i have|you (?:gave|provided|supplied)|provided|given|above|available|supplied|here))?"
)
_EXPLAIN = (
    r"(?:explain|describe|summari[sz]e|try|answer|outline|provide|list|give|go|walk|show|do my best|start|begin|"
    r"discuss|cover|break|look|explore|examine|present|help|assist|share|take|turn|see|focus|address|offer|elaborate|clarify|"
    r"illustrate|consider)\b"
)

_COURTESIES = (
    r"(?:thanks|thank you|many thanks)\b(?: (?:so|very) much)?(?: (?:for|in advance|again)\b.*)?\W*$",
    r"(?:you're|you are) (?:very |most )?welcome\b",
    r"(?:have a|enjoy your|good luck|best of luck|take care|stay (?:safe|tuned)|see you|cheers|all the best)\b\W*",
    r"(?:dear|hi|hello|hey|greetings|good (?:morning|afternoon|evening|day))\b(?:,? \w+){0,3}\W*$",
    r"(?:i|we) (?:apologi[sz]e|appreciate|understand (?:that )?(?:you|your|how))\b",
    r"(?:i|we) (?:really )?hope\b.*\b(?:help|helps|helped|helpful|useful|clear|clarif\w+|answers?|well|enjoy)\b",
    r"(?:what an?|(?:that|this|it)(?:'s| is)(?: such)? an?) (?:very |really )?"
    r"(?:great|good|excellent|interesting|complex|difficult|important|fascinating|tricky|hard) "
    r"(?:question|topic|issue|one)\W*$",
)
_OFFERS = (
    r"(?:please )?(?:let me know|feel free|don't hesitate|do not hesitate|reach out)\b",
    r"if you(?:'d| would| have| need| want|'re| are)\b.*\b"
    r"(?:let me know|feel free|ask|questions?|happy|glad|help|reach out)\b",
    r"(?:i|we)(?:'d| would|'ll| will|'m| am|'re| are) (?:also )?(?:be )?(?:more than )?(?:happy|glad|pleased) to\b",
    r"(?:happy|glad|pleased) to (?:help|assist|hear)\b",
    r"(?:i|we)(?:'m| am|'re| are) here (?:to|for) (?:help|assist|answer|support|you)\b",
    r"(?:i|we) (?:can|could|may) (?:also )?(?:help|assist|provide|explain|show|give|walk|elaborate|try)\b",
    r"(?:do|does|did|is|are|was|were|can|could|would|should|shall|may) (?:you|i|we|this|that|it|there)\b",
    r"(?:you can|you may|you could) (?:find|read|learn|see|get)\b.*\b(?:more|here|below|further|additional)\b",
)
_LEAD_INS = (
    r"(?:just )?let(?:'s| us| me)\b",
    r"(?:(?:now|next|first|here|then|so),? )?(?:i|we)"
    r"(?:'ll| will| shall|'m going to| am going to|'re going to| are going to| would like to|'d like to| want to|"
    r" need to)"
    rf"(?: now| first| next| then| briefly)? {_EXPLAIN}",
    rf"in (?:this|the following|the next) (?:{_PARTS}),? (?:i|we|you)\b",
    rf"(?:here|below|above|the following) (?:is|are)\b.*\b(?:{_PARTS}|summaries|answers|examples?|look|version|"
    r"solution|code|steps?|points?|some|few|draft|what|how|reasons?|ways|tips|details|information|facts)\b",
    r"here(?:'s| you go| we go| it is| they are)\b",
    rf"(?:this|my|the above|the following) (?:{_PARTS}) (?:will|should|covers?|provides?|describes?|explains?|lists?|"
    r"summari[sz]es?|gives?|aims?|discuss\w*|is (?:based|intended|meant|not))\b",
    r"the (?:answer|response) is (?:based|given|as follows|below)\b",
)
_REFUSALS = (
    r"as an? (?:ai|artificial|large|language)\b",
    r"(?:i'm|i am) (?:an? (?:ai|large|language|artificial)|not (?:sure|certain|able)|unsure|uncertain|unable|sorry)\b",
    r"(?:i|we) (?:don't|do not|can't|cannot|can not|couldn't|could not|won't|will not|didn't|did not) "
    r"(?:actually |currently |really )?(?:know|say|tell|answer|find|determine|provide|help|assist|access|confirm|"
    r"verify|give|speculate|comment|fulfill?|comply|"
    r"have (?:any|enough|sufficient|that|access|the|specific|information))\b",
    rf"{_SOURCE} (?:does not|do not|did not|doesn't|don't|didn't) "
    r"(?:explicitly |directly |specifically |actually |clearly )?(?:say|mention|state|specify|contain|provide|include|"
    r"give|indicate|tell|address|discuss|explain|answer|have|cover|reveal|offer|make)\b",
    rf"{_SOURCE} (?:is|are) (?:silent|not (?:sufficient|enough|clear)|insufficient|unclear)\b",
    r"(?:there is|there's|there are) (?:no|not any|not enough|not sufficient|insufficient|no further) "
    r"(?:information|mention|details?|answer)\b",
    r"there (?:isn't|aren't|is not|are not) (?:any|enough|sufficient) (?:information|mention|details?|answer)\b",
    rf"(?:there is|there's) (?:no|not enough|insufficient) (?:evidence|data|indication|reference)\b.*\b{_SOURCE}\W*$",
    r"no (?:information|mention|answer|details?) (?:is|was|are|were|about|of|on|in|can)\b",
    r"(?:it|this|that|the answer) (?:is not|isn't|was not|wasn't|is never) (?:explicitly |directly |specifically )?"
    r"(?:mentioned|stated|specified|given|provided|discussed|possible to (?:say|tell|determine|answer|know))\b",
    r"(?:it|this|that|the answer) (?:is not|isn't|is|remains) (?:clear|unclear|known|unknown)"
    rf"(?: (?:from|in|based on) {_SOURCE})?\W*$",
    r"(?:it|that|this|the answer|the question) (?:cannot|can't|could not) be (?:answered|determined)\b",
)
_EVASIONS = (
    r"(?:it|that|this|the answer) (?:really |all )?(?:depends|varies)\W*$",
    r"(?:it|that|this)(?:'s| is) (?:hard|difficult|impossible|not easy|complicated)"
    r"(?: to (?:say|tell|know|answer))?\W*$",
    r"there are (?:many|several|a few|various|some|a number of|multiple|different) (?:\w+ )?"
    r"(?:factors|things|ways|reasons|points|aspects|options|steps)"
    r"(?: (?:to consider|to note|to this|to look at|for this|worth noting))?\W*$",
    r"(?:opinions|views) (?:differ|vary)\W*$",
)

# A sentence that this matches from its start talks to the reader, or declines to answer.
TALK = re.compile("|".join((*_COURTESIES, *_OFFERS, *_LEAD_INS, *_REFUSALS, *_EVASIONS)), re.I)

# What may stand before a claim and says nothing itself.
OPENER = re.compile(
    r"(?:sure(?: thing)?|certainly|of course|absolutely|definitely|great question|good question|okay|ok|alright|well|"
    r"hi(?: there)?|hello(?: there)?|hey(?: there)?|thanks|thank you|so|now|sorry|unfortunately|regrettably|"
    r"i'm sorry|i am sorry|i apologi[sz]e|my apologies|i'm afraid(?: that)?|i am afraid(?: that)?|please note|"
    r"in conclusion|in summary|to summari[sz]e|to sum up|in short|overall|to conclude|finally|in other words|however|"
    r"for example|for instance|additionally|furthermore|moreover|lastly|firstly|secondly|also)"
    r"(?:\s*[,.!:;–—]+\s*|\s+)(?:but\s+|and\s+)?"
    r"|(?:first|second|third|next|then|great),\s+"
    r"|(?:please )?(?:note|remember|keep in mind|bear in mind|recall|be aware) that "
    r"|(?:it is|it's) (?:important|worth|helpful|useful|crucial|essential|necessary) "
    r"(?:to (?:note|remember|mention|understand|know|recogni[sz]e|consider|keep in mind)|noting|mentioning) that "
    r"|(?:i|we) (?:think|believe|guess|suppose|would say|'d say)(?: that)?,? "
    r"|the (?:\w+ )?answer (?:to (?:this|that|the|your) question )?is:? "
    r"|(?:based on|according to|from|as per|given) (?:the |this |these |your )?(?:\w+ )?"
    r"(?:context|passage|text|document|article|information|evidence|source)s?(?: (?:provided|given|above))?,\s*",
    re.I,
)

# A whole sentence of nothing else.
EMPTY = frozenset(
    " ".join(words.split())
    for words in """sure|sure thing|certainly|of course|absolutely|definitely|okay|ok|alright|all right|great|perfect|
    great question|good question|excellent question|got it|understood|no problem|my pleasure|sorry|my apologies|welcome|
    bye|goodbye|best regards|kind regards|regards|sincerely|yours sincerely|best|thanks|thank you|in conclusion|
    in summary|to summarize|to summarise|to sum up|in short|conclusion|summary|introduction|background|overview|answer|
    the answer|final answer|short answer|explanation|reasoning|analysis|example|for example|for instance|examples|note|
    notes|references|sources|source|disclaimer|key points|main points|key takeaways|takeaways|pros|cons|pros and cons|
    advantages|disadvantages|tl;dr|tldr|first|second|third|firstly|secondly|thirdly|finally|lastly|next|also|however|
    therefore|thus|moreover|furthermore|in addition|on the other hand|on the one hand|overall|maybe|perhaps|possibly|
    probably|hard to say|unknown|not stated|not mentioned|not specified|not given|not known|not provided|not available|
    not sure|not enough information|unanswerable|no answer|no information|insufficient information|insufficient data|
    insufficient evidence|cannot say|cannot tell|can't say|can't tell|cannot be determined|n/a|don't know|do not know|
    idk|no idea|read more|learn more|continue|see below|see above|as follows|steps|instructions|details|question|
    questions|context|response|title|table of contents|contents|further reading|discussion|results|methods|abstract"""
    .split("|")
)  # fmt: skip
