"""Questions to short texts, with their answers: what the offline answerer is tuned on and measured with.

All texts are made up. A text and its questions are in one half only: `dev` is for tuning, `test` for the figures.
A cloze has a gap (`____`) and is worded as another account of the same matter would word it. An answer of None: the
text does not answer; a near miss is one where the text says the same of something else.

`python -m training.questions_cases [test]` prints the figures, of the development half unless told.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evenhand.nlp.words import token_f1
from evenhand.questeval.answerer import Answerer
from evenhand.records import UNANSWERABLE
from evenhand.verify.network import shared

Split = Literal["dev", "test"]


@dataclass(frozen=True, slots=True)
class Case:
    """One question to one text. `answer` is None where the text does not answer it."""

    text: str
    question: str
    answer: str | None
    near_miss: bool
    language: str
    split: Split
    story: int


@dataclass(frozen=True, slots=True)
class Figures:
    """How an answerer did: right about whether there is an answer, and token F1 of what it answered where there is."""

    cases: int
    decided: float
    f1: float
    near_misses_declined: float


@dataclass(frozen=True, slots=True)
class _Story:
    split: Split
    language: str
    text: str
    questions: Sequence[tuple[str, str | None]]
    near_misses: Sequence[str] = ()


_STORIES: Sequence[_Story] = (
    _Story(
        "dev",
        "en",
        "Ambleford has had a new footbridge since March 2019. Designed by Ines Calder, it joins the station to the old "
        "town and has become a favourite place for photographs.",
        [
            ("When was the footbridge opened?", "March 2019"),
            ("The footbridge at Ambleford was opened in ____.", "March 2019"),
            (
                "The footbridge was opened in May 2019. It was designed by ____ and cost 3.4 million euros.",
                "Ines Calder",
            ),
            ("How much did the footbridge cost?", None),
            ("The footbridge at Ambleford cost ____ to build.", None),
        ],
    ),
    _Story(
        "dev",
        "en",
        "The Harrow Observatory, completed in 1931, stands on a ridge 2,140 metres above the sea. Its main telescope "
        "has a mirror of 1.8 metres. The smaller dome beside it was added by the physicist Otto Brandt in 1956 to "
        "watch the Sun. Nearby Selby Observatory is used by schools.",
        [
            ("When was the Harrow Observatory completed?", "1931"),
            ("Who added the smaller dome?", "Otto Brandt"),
            ("The smaller dome of the observatory was added in ____ for work on the Sun.", "1956"),
            ("The observatory lies at a height of ____ above sea level.", "2,140 metres"),
        ],
        ["When was Selby Observatory completed?", "The main telescope of Selby Observatory has a mirror of ____."],
    ),
    _Story(
        "dev",
        "en",
        "Halden Foods said on Tuesday that its revenue rose 12% to $48 million in the third quarter. Chief executive "
        "Mara Lindqvist pointed to strong demand for frozen meals. The company plans to hire 300 workers in Bergen "
        "next year. Its rival Nordmat reported a loss.",
        [
            ("By how much did the revenue of Halden Foods rise?", "12%"),
            ("Halden Foods, led by ____, reported higher sales.", "Mara Lindqvist"),
            ("Where will Halden Foods hire new workers?", "Bergen"),
            ("The firm intends to take on ____ employees in Bergen.", "300"),
            ("How many shops does Halden Foods run?", None),
        ],
        ["What was the revenue of Nordmat?"],
    ),
    _Story(
        "dev",
        "en",
        "In a trial of 412 patients with migraine, those who took veralin had on average two fewer attacks a month "
        "than those given a placebo. The study was led by Dr. Amara Osei at the University of Leeds and lasted 18 "
        "months. Mild nausea was the most common side effect.",
        [
            ("How many patients took part in the trial?", "412"),
            ("How long did the study last?", "18 months"),
            ("The research, headed by ____ of the University of Leeds, tested veralin.", "Amara Osei"),
            ("The side effect seen most often was ____.", "mild nausea"),
            ("The drug veralin is made by ____.", None),
            ("What dose of veralin was given?", None),
        ],
    ),
    _Story(
        "dev",
        "en",
        "Lake Torun covers 86 square kilometres and is at most 41 metres deep. It froze over completely in February "
        "1987, the last time on record. Fishermen from the village of Kelme catch perch and pike there. The river Osla "
        "flows out of it to the south.",
        [
            ("How deep is Lake Torun?", "41 metres"),
            ("The lake has an area of about ____.", "86 square kilometres"),
            ("When did Lake Torun last freeze over?", "February 1987"),
            ("Which river flows out of Lake Torun?", "Osla"),
            ("The village of ____ lives from fishing on the lake.", "Kelme"),
            ("Who owns Lake Torun?", None),
        ],
        ["How long is the river Osla?"],
    ),
    _Story(
        "dev",
        "en",
        "Rosa Quint wrote her first novel, The Salt Road, while she worked as a nurse in Lisbon. It came out in 1994 "
        "and sold 60,000 copies. Her second book, Winter Harbour, won the Almeida Prize five years later. She now "
        "lives on the island of Madeira with two dogs.",
        [
            ("Where did Rosa Quint work as a nurse?", "Lisbon"),
            ("The Salt Road was published in ____.", "1994"),
            ("Which book won the Almeida Prize?", "Winter Harbour"),
            ("Her first novel sold ____ copies.", "60,000"),
            ("Rosa Quint was born in ____.", None),
        ],
        ["How many copies did Winter Harbour sell?"],
    ),
    _Story(
        "dev",
        "en",
        "The city council of Varna voted on 14 June to ban diesel buses from the centre because of poor air quality. "
        "The rule takes effect in 2027. Mayor Petar Iliev said that 90 electric buses had been ordered at a cost of 38 "
        "million euros.",
        [
            ("Why did the council ban diesel buses?", "poor air quality"),
            ("The ban will come into force in ____.", "2027"),
            ("How many electric buses were ordered?", "90"),
            ("According to mayor ____, the new buses have been ordered.", "Petar Iliev"),
            ("Which company will supply the electric buses?", None),
        ],
        ["How much does a diesel bus cost?"],
    ),
    _Story(
        "dev",
        "en",
        "Honeybees tell each other where flowers are by dancing. Karl von Frisch, who decoded the dance, received the "
        "Nobel Prize in 1973. A bee may visit 2,000 flowers in one day, and a colony needs about 30 kilograms of honey "
        "to get through the winter.",
        [
            ("Who decoded the dance of the honeybees?", "Karl von Frisch"),
            ("In ____ Karl von Frisch was awarded the Nobel Prize.", "1973"),
            ("How much honey does a colony need for the winter?", "30 kilograms"),
            ("Each day a single bee visits up to ____ flowers.", "2,000"),
            ("How long does a honeybee live?", None),
            ("The queen lays about ____ eggs a day.", None),
        ],
    ),
    _Story(
        "dev",
        "en",
        "United beat Rovers 3-1 at Millbrook Park on Saturday in front of 21,400 spectators. Jonah Reyes scored twice "
        "before half-time. Rovers, coached by Lena Voss, had a player sent off in the 70th minute.",
        [
            ("How many spectators saw the match?", "21,400"),
            ("The game was played at ____.", "Millbrook Park"),
            ("Who scored two goals in the first half?", "Jonah Reyes"),
            ("Rovers' coach, ____, saw one of her players dismissed.", "Lena Voss"),
        ],
        ["Who coaches United?", "United had a player sent off in the ____ minute."],
    ),
    _Story(
        "dev",
        "en",
        "Tungsten melts at 3,422 degrees Celsius, higher than any other metal. It was first isolated in 1783 by the "
        "brothers Juan and Fausto Elhuyar in Spain. Today most of it is mined in China and used for hard alloys.",
        [
            ("At what temperature does tungsten melt?", "3,422 degrees Celsius"),
            ("Tungsten was first obtained as a metal in ____.", "1783"),
            ("The country that mines most tungsten is ____.", "China"),
            ("What is the price of tungsten?", None),
        ],
        ["When was molybdenum first isolated?"],
    ),
    _Story(
        "dev",
        "en",
        "The Treaty of Ravel ended a war of eleven years. It was signed on 3 August 1742 in the castle of Duke Anselm, "
        "who gave up the province of Lorn. In return the king paid him 200,000 thalers.",
        [
            ("On what date was the Treaty of Ravel signed?", "3 August 1742"),
            ("The war that it ended had lasted ____.", "eleven years"),
            ("Which province did Duke Anselm give up?", "Lorn"),
            ("The king compensated the duke with ____ thalers.", "200,000"),
            ("How many soldiers died in the war?", None),
            ("The name of the king was ____.", None),
        ],
    ),
    _Story(
        "dev",
        "zh",
        "青石大桥于2016年10月建成通车，全长1280米，连接江东区和老城区。大桥由陈立群主持设计，总投资约9.6亿元。桥上设有观景平台，每天吸引大批游客。",
        [
            ("青石大桥什么时候建成通车？", "2016年10月"),
            ("青石大桥的设计由____负责。", "陈立群"),
            ("大桥全长____，是当地最长的桥梁。", "1280米"),
            ("大桥总投资多少钱？", "9.6亿元"),
            ("青石大桥有多少条车道？", None),
            ("江东区的人口为____。", None),
        ],
    ),
    _Story(
        "dev",
        "zh",
        "国家统计局7月15日公布，今年上半年全国粮食产量为1.46亿吨，同比增长2.3%。发言人王海燕表示，夏粮丰收主要得益于天气良好。玉米价格则略有下降。",
        [
            ("上半年全国粮食产量是多少？", "1.46亿吨"),
            ("国家统计局于____公布了上半年数据。", "7月15日"),
            ("粮食产量同比增长____。", "2.3%"),
            ("国家统计局发言人是谁？", "王海燕"),
            ("小麦的平均价格是多少？", None),
        ],
        ["玉米价格下降了多少？", "玉米产量同比增长____。"],
    ),
    _Story(
        "dev",
        "zh",
        "作家林清河1962年出生于绍兴，代表作《雨巷人家》曾获鲁迅文学奖。他在杭州生活了三十年，现任浙江大学教授。他的女儿是一名医生。",
        [
            ("林清河出生于哪里？", "绍兴"),
            ("林清河的代表作是____。", "雨巷人家"),
            ("林清河现任____教授。", "浙江大学"),
            ("林清河于____去世。", None),
        ],
        ["他的女儿出生于哪一年？"],
    ),
    _Story(
        "dev",
        "zh",
        "6月3日，云州市发生5.2级地震，震源深度10公里。截至当晚，地震造成12人受伤，没有人员死亡。消防部门派出150名队员赶赴现场救援。",
        [
            ("地震造成多少人受伤？", "12人"),
            ("此次地震的震源深度为____。", "10公里"),
            ("消防部门共出动____名救援人员。", "150"),
            ("地震造成的经济损失是多少？", None),
            ("上一次地震发生在____。", None),
        ],
    ),
    _Story(
        "test",
        "en",
        "The lighthouse on Crow Point was built in 1868 by the engineer Thomas Arkell. It is 34 metres tall and its "
        "light can be seen for 19 miles. Since 1990 it has worked without a keeper. A second lighthouse, on Gull Rock, "
        "was pulled down long ago.",
        [
            ("Who built the lighthouse on Crow Point?", "Thomas Arkell"),
            ("How tall is the lighthouse?", "34 metres"),
            ("The lighthouse has been automatic since ____.", "1990"),
            ("From a distance of ____ sailors can see its light.", "19 miles"),
        ],
        ["When was the lighthouse on Gull Rock built?"],
    ),
    _Story(
        "test",
        "en",
        "Pellar Motors will close its plant in Dresden at the end of 2026 owing to falling sales. About 1,150 people "
        "work there. The union, led by Katrin Maurer, called the decision a disgrace. Production of the Pellar Mini "
        "moves to Slovakia.",
        [
            ("Why will Pellar Motors close its plant?", "falling sales"),
            ("How many people work at the plant?", "1,150"),
            ("The Dresden plant is to shut by the end of ____.", "2026"),
            ("To which country does production move?", "Slovakia"),
            ("The head of the union, ____, criticised the closure.", "Katrin Maurer"),
            ("Who is the chief executive of Pellar Motors?", None),
        ],
        ["How many people will work at the plant in Slovakia?"],
    ),
    _Story(
        "test",
        "en",
        "Vitamin K2 helps the body to keep calcium in the bones. A Dutch team followed 4,807 adults over ten years and "
        "found that those who ate most of it had 57 percent fewer heart deaths. Cheese is the richest source in the "
        "Dutch diet.",
        [
            ("How many adults were followed in the study?", "4,807"),
            ("The researchers observed the participants for ____.", "ten years"),
            ("Heart deaths were ____ lower among those who ate the most.", "57 percent"),
            ("In the Netherlands the main source of the vitamin is ____.", "cheese"),
            ("How much vitamin K2 should an adult eat each day?", None),
        ],
        ["The richest source of vitamin D is ____."],
    ),
    _Story(
        "test",
        "en",
        "Mount Ilgaz was first climbed on 9 July 1904 by Hanna Keller and her guide. The ascent took them fourteen "
        "hours. The mountain is 4,310 metres high; its neighbour, Mount Soral, was not climbed until the 1930s.",
        [
            ("Who first climbed Mount Ilgaz?", "Hanna Keller"),
            ("How high is Mount Ilgaz?", "4,310 metres"),
            ("The first climbers reached the top after ____.", "fourteen hours"),
            ("Mount Ilgaz was conquered on ____.", "9 July 1904"),
            ("What was the name of the guide?", None),
        ],
        ["Mount Soral has a height of ____."],
    ),
    _Story(
        "test",
        "en",
        "The painter Elsa Moreau moved from Lyon to Tangier in 1926. There she made most of her 140 known works, among "
        "them The Blue Gate, which hangs in the Museum of Fine Arts in Ghent. She died of malaria at the age of 52.",
        [
            ("In which year did Elsa Moreau move to Tangier?", "1926"),
            ("Where does The Blue Gate hang?", "Museum of Fine Arts"),
            ("About ____ works by the artist are known.", "140"),
            ("She was ____ years old when she died.", "52"),
            ("Who taught Elsa Moreau to paint?", None),
            ("The Blue Gate was sold for ____ at an auction.", None),
        ],
    ),
    _Story(
        "test",
        "en",
        "A comet named Tarrin will pass the Earth on 12 October at a distance of 71 million kilometres. It was "
        "discovered by students at a school in Nairobi. With binoculars it can be seen low in the western sky after "
        "sunset.",
        [
            ("When will the comet pass the Earth?", "12 October"),
            ("How far from the Earth will the comet be?", "71 million kilometres"),
            ("The comet Tarrin was found by pupils in ____.", "Nairobi"),
            ("How large is the comet?", None),
            ("Tarrin comes back every ____ years.", None),
        ],
    ),
    _Story(
        "test",
        "en",
        "The court in Oslo ordered Fjordkraft to pay a fine of 9 million kroner for polluting the Lier river. Judge "
        "Ingrid Solberg said that the company had known of the leak for six weeks. Fjordkraft will appeal. Its partner "
        "Elvia was cleared.",
        [
            ("How large was the fine?", "9 million kroner"),
            ("Which river was polluted?", "Lier"),
            ("According to judge ____ the firm knew about the leak.", "Ingrid Solberg"),
            ("The firm had been aware of the leak for ____.", "six weeks"),
            ("How many fish died in the river?", None),
        ],
        ["How much did Elvia have to pay?"],
    ),
    _Story(
        "test",
        "en",
        "Soren Lake, 27, won the Tokyo Marathon in 2 hours and 5 minutes. He trains in the hills near Eldoret with a "
        "group of eight runners. His prize money of $100,000 will go to a school in his village. Maya Ito was the "
        "fastest woman.",
        [
            ("Who won the Tokyo Marathon?", "Soren Lake"),
            ("The winner trains near ____.", "Eldoret"),
            ("How much prize money did Soren Lake receive?", "$100,000"),
            ("The fastest of the women was ____.", "Maya Ito"),
            ("In what year did Soren Lake begin to run?", None),
        ],
        ["Where does Maya Ito train?"],
    ),
    _Story(
        "test",
        "en",
        "The kingdom of Mersia introduced paper money in 1661. The first notes were printed in Stavel by Johan Palm's "
        "bank. They lost their value within three years because too many were issued. Copper coins remained in use "
        "until 1776.",
        [
            ("When did Mersia introduce paper money?", "1661"),
            ("Where were the first notes printed?", "Stavel"),
            ("The notes became worthless within ____.", "three years"),
            ("Whose bank printed the first notes?", "Johan Palm"),
            ("Who was king of Mersia at the time?", None),
        ],
        ["Where were the copper coins made?"],
    ),
    _Story(
        "test",
        "en",
        "Glass frogs of the species Hyalin sleep on leaves by day. A team from Duke University found that they hide "
        "89% of their red blood cells in the liver while asleep, which makes them two to three times more transparent. "
        "The frogs are about 25 millimetres long.",
        [
            ("Where do the frogs hide their red blood cells?", "liver"),
            ("How long are the frogs?", "25 millimetres"),
            ("Researchers from ____ studied the sleeping frogs.", "Duke University"),
            ("Asleep, the animals store ____ of their red blood cells in the liver.", "89%"),
            ("What do glass frogs eat?", None),
        ],
    ),
    _Story(
        "test",
        "en",
        "The new library in Porto Velho holds 220,000 books and was paid for by the Andrade Foundation. Architect Luis "
        "Prado used timber for the roof. It opened its doors on 2 May and drew 8,000 visitors in the first week. The "
        "old library is to become a theatre.",
        [
            ("How many books does the new library hold?", "220,000"),
            ("The building was financed by ____.", "Andrade Foundation"),
            ("What material was used for the roof?", "timber"),
            ("In its first week the library had ____ visitors.", "8,000"),
            ("How many people work in the library?", None),
        ],
        ["When did the old library open?"],
    ),
    _Story(
        "test",
        "zh",
        "明湖图书馆今年5月20日正式开放，馆藏图书45万册。该馆由建筑师周文杰设计，建筑面积达3.2万平方米。开馆首日接待读者6800人次。",
        [
            ("明湖图书馆什么时候开放？", "5月20日"),
            ("明湖图书馆由建筑师____设计。", "周文杰"),
            ("图书馆的建筑面积为____。", "3.2万平方米"),
            ("开馆第一天接待了多少读者？", "6800人次"),
            ("图书馆有多少名员工？", None),
            ("图书馆的建设费用为____。", None),
        ],
    ),
    _Story(
        "test",
        "zh",
        "华能公司在青海建设的光伏电站3月底并网发电，装机容量50万千瓦，每年可减少二氧化碳排放80万吨。项目经理李国强介绍，二期工程将于明年动工。",
        [
            ("光伏电站的装机容量是多少？", "50万千瓦"),
            ("该光伏电站位于____。", "青海"),
            ("项目经理是谁？", "李国强"),
            ("电站每年减少二氧化碳排放____。", "80万吨"),
            ("光伏电站总投资多少元？", None),
        ],
        ["二期工程的装机容量是多少？"],
    ),
    _Story(
        "test",
        "zh",
        "1924年，考古学家在白马山发现了一座唐代古墓，出土文物320件。墓主人是唐代将军张怀义。其中一件金杯现藏于陕西历史博物馆。",
        [
            ("古墓是哪一年发现的？", "1924年"),
            ("古墓共出土文物____。", "320件"),
            ("墓主人是____。", "张怀义"),
            ("金杯重多少克？", None),
            ("考古队队长是谁？", None),
        ],
    ),
    _Story(
        "test",
        "zh",
        "在昨晚的比赛中，上海队以3比1战胜山东队，前锋刘洋打进两球。比赛在虹口体育场举行，现场观众达到2.7万人。山东队主教练对判罚表示不满。",
        [
            ("谁打进两球？", "刘洋"),
            ("比赛在____举行。", "虹口体育场"),
            ("现场观众有多少人？", "2.7万人"),
            ("比赛的主裁判是____。", None),
        ],
        ["上海队的主教练是谁？", "山东队的前锋____打进两球。"],
    ),
)

# Natural questions only.
_NATURAL: Sequence[_Story] = (
    _Story(
        "dev",
        "en",
        "Brackley's new swimming hall, a design by Petra Lunde, stands beside the Orme canal. It is heated by two heat "
        "pumps and a wood boiler. The pool is closed for cleaning every six weeks. Until 30 June children swim free.",
        [
            ("Who designed the swimming hall?", "Petra Lunde"),
            ("What heats the swimming hall?", "two heat pumps and a wood boiler"),
            ("How often is the pool closed for cleaning?", "every six weeks"),
            ("Until when do children swim free?", "30 June"),
            ("Who paid for the swimming hall?", None),
        ],
        ["Who designed the Orme canal?"],
    ),
    _Story(
        "dev",
        "en",
        "The wool merchant Dirk Maas bought the windmill at Hesselo from the town in 1688. His heirs owned it for four "
        "generations. Today the mill grinds spelt and rye for a bakery in Vinde, and volunteers repair its sails.",
        [
            ("Which merchant bought the windmill?", "Dirk Maas"),
            ("What does the mill grind today?", "spelt and rye"),
            ("Who repairs the sails?", "volunteers"),
            ("How high is the windmill?", None),
            ("Which merchant sold the windmill?", None),
        ],
        ["In which year was the bakery bought?"],
    ),
    _Story(
        "dev",
        "en",
        "Storm Edda cut the power on the island of Grell for up to five days. Linemen reached the Skarn relay first. "
        "About 640 homes were without light, and 17 boats sank in the harbour. A crust of salt had covered the "
        "insulators.",
        [
            ("For how long was the power cut?", "up to five days"),
            ("What had covered the insulators?", "a crust of salt"),
            ("Which relay did the linemen reach first?", "Skarn relay"),
            ("How many boats sank?", "17"),
            ("How many linemen were sent to the island?", None),
        ],
        ["How many homes sank?"],
    ),
    _Story(
        "dev",
        "en",
        "The Tarn Valley tram runs from Osby to the coast, a distance of 23 kilometres. A car leaves every twelve "
        "minutes. The first line was built by Carl Rehn between 1899 and 1903. From 2 November the tram will also run "
        "at night.",
        [
            ("How often does a tram leave?", "every twelve minutes"),
            ("Who built the first line?", "Carl Rehn"),
            ("From which date will the tram run at night?", "2 November"),
            ("How far is it from Osby to the coast?", "23 kilometres"),
            ("How many passengers use the tram?", None),
        ],
        ["Who built the night tram?"],
    ),
    _Story(
        "dev",
        "en",
        "Researchers at the Norrby Institute grew a moss that soaks up lead. The owner of the mine, Ostra Metals, "
        "paid for the work. In the trial, which Hedda Blom supervised, the moss removed 62 percent of the lead within "
        "three weeks. It needs shade and clean sand.",
        [
            ("Who owns the mine?", "Ostra Metals"),
            ("Who was the supervisor of the trial?", "Hedda Blom"),
            ("What does the moss need?", "shade and clean sand"),
            ("What share of the lead was removed?", "62 percent"),
            ("When was the mine opened?", None),
        ],
        ["How much copper did the moss remove?"],
    ),
    _Story(
        "dev",
        "en",
        "Minnow School won the district shield on Friday. Its captain, Ada Rowe, scored nine points in the final "
        "against Pendle School. The trophy was handed over by the poet Sunil Bose in front of 300 parents. The next "
        "tournament is on 9 May.",
        [
            ("Who scored nine points in the final?", "Ada Rowe"),
            ("What did Minnow School win?", "district shield"),
            ("Who handed over the trophy?", "Sunil Bose"),
            ("When is the next tournament?", "9 May"),
            ("How many pupils does Minnow School have?", None),
        ],
        ["Who is the captain of Pendle School?"],
    ),
    _Story(
        "dev",
        "en",
        "A dam of clay and brushwood once held back the Velde. It broke in the spring flood of 1784, and the water "
        "carried off a chapel and eleven barns. The present dam was paid for by Countess Aurelia and finished in 1801. "
        "Beavers have lived there since 2012.",
        [
            ("What carried off the chapel?", "the water"),
            ("How many barns were carried off?", "eleven"),
            ("Who paid for the present dam?", "Countess Aurelia"),
            ("Since when have beavers lived there?", "2012"),
        ],
        ["How many chapels did Countess Aurelia build?", "Since when have otters lived there?"],
    ),
    _Story(
        "dev",
        "en",
        "The tea house in Rill Park reopens on Sunday after a fire. Carpenter Jon Arkwell rebuilt the porch with oak "
        "from the Marn forest. Guests may stay until ten o'clock in summer. A pot of tea costs £4, and the cakes are "
        "baked by the sisters Rao.",
        [
            ("Who rebuilt the porch?", "Jon Arkwell"),
            ("Which forest did the oak come from?", "Marn forest"),
            ("How much does a pot of tea cost?", "£4"),
            ("Until when may guests stay in summer?", "ten o'clock"),
            ("Who started the fire?", None),
        ],
        ["How much does a cake cost?"],
    ),
    _Story(
        "dev",
        "en",
        "The survey ship Halcyon is crewed by 28 sailors and 11 scientists. It maps the sea floor with sonar and a "
        "small submarine. Captain Ruth Ekman took command in 2020. A voyage to the Kolt trench will last seven months.",
        [
            ("How many scientists are on the ship?", "11"),
            ("With what does the ship map the sea floor?", "sonar and a small submarine"),
            ("Who commands the ship?", "Ruth Ekman"),
            ("How long will the voyage last?", "seven months"),
            ("Where was the Halcyon built?", None),
        ],
        ["How long is the Kolt trench?"],
    ),
    _Story(
        "dev",
        "en",
        "For her discovery of a painted cave near Lerma, Nora Velasco received a silver medal from the Royal Society "
        "of Antiquaries. The cave is open to visitors twice a week. Its paintings of bison and horses are some 14,000 "
        "years old.",
        [
            ("Who discovered the painted cave?", "Nora Velasco"),
            ("How often can visitors see the cave?", "twice a week"),
            ("How old are the paintings?", "14,000 years"),
            ("What was Nora Velasco given?", "silver medal"),
            ("How deep is the cave?", None),
        ],
        ["Who discovered the silver?"],
    ),
    _Story(
        "test",
        "en",
        "Ferrow's concert house, the work of architect Lotte Hamm, was opened by the queen on 4 October 2008. Its "
        "stage is lit by forty lamps and a glass roof. The hall is tuned every three months. It seats 1,240 listeners.",
        [
            ("Who was the architect of the concert house?", "Lotte Hamm"),
            ("What lights the stage?", "forty lamps and a glass roof"),
            ("How often is the hall tuned?", "every three months"),
            ("How many listeners does the hall seat?", "1,240"),
            ("Who tunes the hall?", None),
        ],
        ["When was the glass roof repaired?"],
    ),
    _Story(
        "test",
        "en",
        "The banker Paolo Renzi purchased the island of Asta in 1911 and planted lemons and figs there. He lived on it "
        "for nineteen years. A film of oil has lain on its bay since August, and bathing is forbidden until 15 April.",
        [
            ("Which banker bought the island?", "Paolo Renzi"),
            ("What did Paolo Renzi plant?", "lemons and figs"),
            ("Until when is bathing forbidden?", "15 April"),
            ("What has lain on the bay since August?", "a film of oil"),
            ("Who spilled the oil?", None),
        ],
        ["How long did the oil tanker burn?"],
    ),
    _Story(
        "test",
        "en",
        "A rescue team led by Ida Storm brought 14 walkers and three dogs down from the Hovde ridge. They had been "
        "stuck in snow for almost two days. The helicopter flew from Brennas, 48 kilometres away.",
        [
            ("Who led the rescue team?", "Ida Storm"),
            ("How many walkers were rescued?", "14"),
            ("How long were the walkers stuck?", "two days"),
            ("From which ridge were the walkers brought down?", "Hovde ridge"),
        ],
        ["How many helicopters were used?", "Who led the walkers?"],
    ),
    _Story(
        "test",
        "en",
        "From 1 September the ferry to Lysa will sail four times a day. Its engines run on hydrogen, made by Kelda "
        "Energy at a plant in Roan. A ticket for the crossing costs 60 kroner. The old ferry was sold to a museum.",
        [
            ("From which date will the ferry sail four times a day?", "1 September"),
            ("How often will the ferry sail?", "four times a day"),
            ("Who makes the hydrogen?", "Kelda Energy"),
            ("How much does a ticket cost?", "60 kroner"),
            ("How fast is the new ferry?", None),
        ],
        ["How much did the museum pay for the old ferry?"],
    ),
    _Story(
        "test",
        "en",
        "The composer Irma Falk wrote the hymn in 1933 while she taught at a school in Dorn. It was first sung by a "
        "choir of fishermen. The owner of the manuscript, Bengt Ahl, keeps it in an iron chest.",
        [
            ("Who composed the hymn?", "Irma Falk"),
            ("Who owns the manuscript?", "Bengt Ahl"),
            ("Where does Bengt Ahl keep the manuscript?", "an iron chest"),
            ("What is the title of the hymn?", None),
        ],
        ["Who owns the school in Dorn?"],
    ),
    _Story(
        "test",
        "en",
        "Frost destroyed the vines of Cole Valley in the night of 21 April. Growers lost a third of the harvest, and "
        "52 farms asked for help. The last frost of this kind was in 1991. A mixture of ash and lime now protects the "
        "young shoots.",
        [
            ("What destroyed the vines?", "frost"),
            ("How many farms asked for help?", "52"),
            ("What protects the young shoots?", "a mixture of ash and lime"),
            ("In which year was the last such frost?", "1991"),
            ("How much money did the farms receive?", None),
        ],
        ["How many growers left the valley?"],
    ),
    _Story(
        "test",
        "en",
        "Since 1996 the clock of Sant Oriol has been wound once a month by the locksmith Marc Puig. Its bell weighs "
        "900 kilograms and was cast in Vic. The tower, built by monks, leans by 40 centimetres.",
        [
            ("Who winds the clock?", "Marc Puig"),
            ("How often is the clock wound?", "once a month"),
            ("How heavy is the bell?", "900 kilograms"),
            ("Who were the builders of the tower?", "monks"),
            ("Who cast the bell?", None),
        ],
        ["How heavy is the clock?"],
    ),
)


def cases(split: Split, language: str | None = None) -> list[Case]:
    """The cases of a half, in one language or in both."""
    return [
        Case(story.text, question, answer, near, story.language, story.split, number)
        for number, story in enumerate((*_STORIES, *_NATURAL))
        if story.split == split and language in (None, story.language)
        for question, answer, near in (
            *((question, answer, False) for question, answer in story.questions),
            *((question, None, True) for question in story.near_misses),
        )
    ]


def figures(answerer: Answerer, chosen: Sequence[Case]) -> Figures:
    """What an answerer makes of some cases."""
    found = [answerer.answer(case.question, case.text, case.language).answer for case in chosen]
    pairs = list(zip(chosen, found, strict=True))
    answered = [
        token_f1(answer, case.answer, case.language)
        for case, answer in pairs
        if case.answer is not None and answer != UNANSWERABLE
    ]
    near = [answer == UNANSWERABLE for case, answer in pairs if case.near_miss]
    return Figures(
        cases=len(pairs),
        decided=sum((case.answer is None) == (answer == UNANSWERABLE) for case, answer in pairs) / len(pairs),
        f1=sum(answered) / len(answered),
        near_misses_declined=sum(near) / len(near),
    )


def main(split: Split) -> None:
    for name, answerer, language in (
        ("English, with the network", Answerer(shared()), "en"),
        ("English, without", Answerer(None), "en"),
        ("Chinese", Answerer(None), "zh"),
    ):
        made = figures(answerer, cases(split, language))
        print(
            f"{split}, {name}: {made.cases} cases; answerable or not {made.decided:.3f}; token F1 of what was answered "
            f"{made.f1:.3f}; near misses declined {made.near_misses_declined:.3f}"
        )


if __name__ == "__main__":
    main("test" if sys.argv[1:] == ["test"] else "dev")
