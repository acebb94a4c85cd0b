"""The words by which a spec, a measured figure and vague wording are told apart."""

from __future__ import annotations

import re

from kbs_ingest.audit.unitwords import UNIT
from kbs_ingest.audit.values import NUMBER

COUNTED = (
    r"(?:SMs\b|CUs\b|compute units\b|multiprocessors\b|tensor cores\b|CUDA cores\b"
    r"|stream processors\b|(?:32-bit )?registers per (?:SM|CU)\b|XCDs\b)"
)
SPEC = re.compile(
    rf"(?<![\w.,-])(?P<value>{NUMBER}\s?(?P<unit>{UNIT})(?![\w/%])|{NUMBER}\s(?P<count>{COUNTED}))"
)
COUNT_IS = re.compile(
    r"\b(?:(?:SM|CU) count|registers per (?:SM|CU))\b[^\d\n|]{0,20}"
    rf"(?P<value>{NUMBER})(?![\w%])"
    rf"|\b(?:SM|CU)\b[^\n|;.]{{0,40}}\bhas (?P<each>{NUMBER}) (?:32-bit )?"
    r"(?:registers|lanes|cores)\b",
    re.IGNORECASE,
)
WORDS: dict[str, re.Pattern[str]] = {
    "bytes_per_s": re.compile(
        r"bandwidth|\bHBM|\bGDDR|\bDRAM\b|\bVRAM\b|NVLink|PCIe|Infinity Fabric|\bpeak\b|theoretical"
        r"|datasheet|\bspec\b|\bspeed[\s-]of[\s-]light\b",
        re.IGNORECASE,
    ),
    "ops_per_s": re.compile(
        r"\bpeak\b|dense|sparse|tensor|theoretical|datasheet|\bspec\b|\bFP\d+|\bBF16|\bTF32|\bINT\d"
        r"|matrix|vector|\bspeed[\s-]of[\s-]light\b",
        re.IGNORECASE,
    ),
    "bytes": re.compile(
        r"\bHBM|\bGDDR|\bVRAM\b|\bL[12]\b|shared memory per (?:SM|CU)|\bLDS per|register file"
        r"|Infinity Cache|device memory|memory capacity",
        re.IGNORECASE,
    ),
    "hz": re.compile(r"clock|\bboost\b", re.IGNORECASE),
    "watt": re.compile(r"\bTDP\b|board power|power limit", re.IGNORECASE),
}
"""Words of which a number with such a unit may be a spec."""
STRONG = re.compile(
    r"\bpeak\b|theoretical|datasheet|data sheet|spec sheet|\brated\b|nominal|\bspec\b|\bcapacity\b"
    r"|\bmax(?:imum)?\b|\bup to\b|\bspeed[\s-]of[\s-]light\b",
    re.IGNORECASE,
)
PRINTED = re.compile(
    r"theoretical|datasheet|data sheet|spec sheet|\brated\b|nominal|\bspec\b", re.IGNORECASE
)
"""What only a document states, whoever is the subject."""
HAS = re.compile(
    r"\b(?:has|have|having|offers?|provides?|features?|contains?|gives|supports?|comes with"
    r"|equipped with|there are|can)\b",
    re.IGNORECASE,
)
ITSELF = re.compile(
    r"\bHBM\d|\bGDDR\d|\bVRAM\b|\bTDP\b|board power|boost clock|base clock|\b(?:SM|CU) count\b"
    r"|\bL[12]\b|register file|registers per (?:SM|CU)|(?:shared memory|LDS) per (?:SM|CU)"
    r"|Infinity Cache|memory capacity"
    r"|\b(?:per|each|of an?|of the|of each)[\s-](?:SM|CU)['’]?s?\b.{0,20}(?:shared memory|\bLDS\b)"
    r"|(?:shared memory|\bLDS\b).{0,20}\b(?:of|on|in) (?:an?|each|every|one) (?:SM|CU)\b",
    re.IGNORECASE,
)
"""Properties of hardware that no run has."""
OF_A_UNIT = re.compile(
    r"\A(?=.*\b(?:SM|CU|multiprocessor|compute unit)\b)(?=.*(?:shared memory|\bsmem\b|\bLDS\b"
    r"|\bL1\b|register file))",
    re.IGNORECASE,
)
"""A clause on one SM and a memory that each SM has."""
PEAK_RATE = re.compile(
    r"\b(?P<peak>peak|maximum|theoretical)\s+(?P<of>(?:(?:\w+\s)?memory|DRAM|HBM\w*|GDDR\w*|L2"
    r"|(?:\w+\s)?tensor(?:[\s-]core)?|compute|math|[BT]?FP?\d+|INT\d)\s+){0,2}throughput\b",
    re.IGNORECASE,
)
"""The throughput of the hardware, where the bare word tells of a run."""
MEASURED = re.compile(
    r"measur|\bmedian\b|\bmean\b|achiev|observ|sustain|effective|\bactual|\breach|attain|\bhits?\b"
    r"|deliver|\bran\b|\bruns? (?:at|in)\b|\btook\b|\btakes\b|profil|\bncu\b|nsight|rocprof|\btimer"
    r"|benchmark|speed-?up|\bfaster\b|\bslower\b|throughput|%\s*of\b|\d\s?%|\b\d[\d.]*\s?(?:µs|us|ms|ns|s)\b"
    r"|iteration|\bp\d\d\b|baseline|\bbefore\b|\bafter\b|improv|result|\w__\w",
    re.IGNORECASE,
)
KERNEL = re.compile(
    r"\buse[sd]?\b|\busing\b|allocat|\bneeds?\b|requires?\b"
    r"|per (?:block|thread|CTA|stage|tile|warp)"
    r"|\btiles?\b|\bstages?\b|spill|working set|\binputs?\b|\boutputs?\b|\bbuffers?\b|footprint"
    r"|traffic|\bmoves?\b|\breads?\b|\bwrites?\b|\bloads?\b|\bstores?\b|carve|\bfits?\b|transfer"
    r"|\btensors?\b(?! (?:core|peak))|\bmatri(?:x|ces) (?:of|is|are)|\b(?:larg|small)er than\b"
    r"|\bexceeds?\b|weights?\b|activations?\b|\bcopy\b|\bcopies\b|\brows?\b",
    re.IGNORECASE,
)
RUN = re.compile(
    r"\bwe\b|\bour\b|\bkernels?\b|\b(?:was|were)\b|\b(?:saw|seen|sees?|gets?|got|showed|shows)\b"
    r"|\bfixed\b|\block(?:ed|s)?\b|\bpinned\b|\bset (?:to|at|aside)\b|\bset-aside\b|\bconfigured\b"
    r"|\bcapped\b|\bthrottl|nvidia-smi|rocm-smi|\bruns?\b|\brunning\b|\blaunch|\btests?\b|\btested\b"
    r"|\bduring\b|\bwhile\b|\btraffic\b|persist|\bwindow\b|\breserv|\bresident\b|\bkept\b|\bkeeps?\b"
    r"|prefetch|evict|\boccup|\bbusy\b|\bidle\b|\bactive\b|\bfree\b|\bcovers?\b"
    r"|\bat (?:block|batch|tile|size|sequence|seq|grid|\w+\s?=)|\bfor \w+\s?=|\w\s?=\s?\d",
    re.IGNORECASE,
)
"""A run, its settings, and what was seen: no statement of what the hardware has or can do."""
VAGUE = re.compile(
    r"\bapproximately\b|\bapprox\b|\babout\b|\baround\b|\broughly\b|\bshould be\b|\bsimilar to\b"
    r"|\busually\b|\btypically\b|\bprobably\b|\bpresumably\b|\bnearly\b|\bcirca\b|\bclose to\b"
    r"|\bsimilar product\b|[~≈]\s?\d",
    re.IGNORECASE,
)
LIKENESS = re.compile(
    r"\bshould be\b|\bsimilar (?:to|product)\b|\bsame as\b|\bcomparable to\b|\bprobably\b"
    r"|\bpresumably\b|\busually\b|\btypically\b|\broughly\b|\bapproximately\b",
    re.IGNORECASE,
)
NOUN = re.compile(
    r"bandwidth|\bpeak\b|[TP]FLOPS|\bTOPS\b|\b(?:SM|CU) count|\bHBM|\bL2 (?:size|cache|capacity)"
    r"|boost clock|\bTDP\b",
    re.IGNORECASE,
)
CHIP = re.compile(
    r"(?:\b|(?<=\dx))(?:[ABHLV]\d{2,3}|MI\d{3}[A-Z]?|G[BH]\d{3}|B\d{3}|RTX\s?\d{4}|T4|L4|H20)\b"
)
OWNS = re.compile(
    rf"{CHIP.pattern}(?:\s\w+){{0,2}}\s(?:with|has|have|carries|offers|comes with)\s(?:\w+\s)?"
    rf"{NUMBER}\s?[GT]i?B\b"
)
"""A chip with so much memory, whether or not it is called memory."""
DOES = re.compile(
    rf"{CHIP.pattern}(?:\s\w+){{0,2}}\s(?:with|has|have|offers|provides|gives|delivers|comes with)"
    rf"\s(?:(?:up to|a|about|around|roughly)\s)?{NUMBER}\s?{UNIT}(?!\w)"
)
"""A chip with so many bytes or operations per second, whatever they are called."""
CAN = re.compile(rf"(?P<who>{CHIP.pattern}(?:\s\w+)?)\s(?:delivers?|runs at)\b")
"""Of a chip by name these say what it can do; of a kernel, what it did."""
IN_NAME = re.compile(
    r"(?:\b[A-Z]{1,3}\d{2,4}[A-Z]*|\bSXM\d?|\bPCIe|\bNVL|\bOAM|±|\d+ of)[\s_-]*$", re.IGNORECASE
)
"""What stands before a number that is part of a product name, a tolerance or a share."""
NAME_SPELLING = re.compile(r"(?<!\bwith )(?<!\bhas )(?<!\bof )(?<!\band )\d+GB HBM")
"""How tools print a part: ``NVIDIA GH200 144GB HBM3e``; a sentence leaves a space before GB."""
NAMED = re.compile(
    rf"(?<![A-Za-z])(?P<name>[A-Za-z_]{{0,40}}?(?:peak|max)(?:imum)?(?:[A-Za-z_]|(?<=_)\d|(?<=[a-z])\d){{0,40}}?"
    rf"(?:bandwidth|bw|flops)[A-Za-z0-9_]{{0,40}})[\"']?\s{{0,8}}(?::\s?[a-z]\w{{0,20}}\s{{0,8}})?[:=]\s{{0,8}}"
    rf"(?P<value>{NUMBER})(?![\w.%])",
    re.IGNORECASE,
)
"""``PEAK_BW = 3.35e12`` and ``"peak_bandwidth": 3350``: a spec by its name."""
CONSTANT = re.compile(
    r"(?<![A-Za-z0-9_])(?P<name>(?:[A-Z0-9_]{0,30}?(?:HBM\dE?|HBM|DRAM|VRAM|GDDR\dX?)_?"
    r"|(?:[ABHLV]\d{2,3}|MI\d{3}[A-Z]?|G[BH]\d{3}|RTX_?\d{4}|T4|L4)_[A-Z0-9_]{0,30}?)"
    r"(?:BANDWIDTH|BW|[TGP]?FLOPS|[TG]BP?S)[A-Z0-9_]{0,20}|k(?:Hbm|Dram)\w{0,20}?(?:Bandwidth|Bw)\w{0,20})"
    rf"(?:\s{{0,8}}:\s?[a-z]\w{{0,20}})?(?:\s{{0,8}}=\s{{0,8}}|\s{{1,8}})\(?(?P<value>{NUMBER})"
    r"(?![\w.%]*[A-EG-Za-eg-z_%])"
)
"""``HBM_BW = …`` and ``#define H100_TFLOPS …``: what code keeps as a constant is no run's."""
DEFINED = re.compile(
    r"#\s{0,8}define\s+(?P<name>\w{0,40}?(?:peak|max)\w{0,40}?(?:bandwidth|bw|flops)\w{0,40})"
    rf"\s+\(?(?P<value>{NUMBER})"
    r"(?![\w.%]*[A-EG-Za-eg-z_])",
    re.IGNORECASE,
)
OF_A_PART = re.compile(
    r"\"(?P<part>[\w .-]*)\" > "
    r"\"(?P<name>\w*(?:memory|hbm|dram|vram)_(?:bandwidth|bw)\w*)\"\s*:\s*"
    rf"(?P<value>{NUMBER})",
    re.IGNORECASE,
)
"""The bandwidth of the memory of a part by name, in data."""
UNIT_OF_COLUMN = re.compile(rf"(?:[(\[,]\s*|\bin\s)(?P<unit>{UNIT})\s*[)\]]?\s*$")
"""``peak BF16 (TFLOPS)``: the unit of the numbers below."""
NAME_OF_RUN = re.compile(
    r"pct|percent|frac|ratio|util|measur|achiev|effic|observ|sustain|_of_|_per_|share|median|mean"
    r"|speed_?up",
    re.IGNORECASE,
)
CUT = re.compile(
    r";|\.\s|,\s|[()\[\]|]|\s(?:against|versus|vs\.?|while|but|whereas|compared)\s", re.IGNORECASE
)
