"""Words of a statement by what they can do to its number: nothing, or make another of it."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NEUTRAL = """
a an the this that these its their our your his it there which who whose what where here
of for on in at by with to from as and is are was were be being has have had having
offers offer offered provides provide provided gives give delivers deliver features
comes equipped supports support reads read states state stated says say prints print printed
lists list listed shows show names name reports according cites cite cited see note notes nb
i e g eg ie viz namely example instance such so thus hence therefore then also only just
exactly precisely equal equals equalling about around approximately approx roughly circa ca
up reach
one peak theoretical theory max maximum maximal highest top full whole entire complete total in
datasheet data sheet spec specs specification specifications specified rated nominal official
advertised published documented vendor manufacturer whitepaper paper product page document
table chip gpu card board device part accelerator processor module hardware
wiki gpu-wiki source sources citation reference value values figure number limit limits
roof roofs roofline ceiling ceilings bound bounds ridge constant metric property key
memory cache size count counts capacity bandwidth throughput rate rates performance compute
speed power draw clock frequency width amount core cores unit units matrix vector tensor
math arithmetic operations operation ops flops flop bytes byte bits bit cycles precision half
single double floating point float integer type generation version capability
dense sparse sparsity structured including accumulate accumulation
accumulator acc accum
per each every clk second sec s ms us ns hz
used use uses using step iteration kernel kernels report run section model analysis summary
context target machine setup environment input inputs item
variant form factor edition resident global device main video graphics external off onboard
gb gib mb mib kb kib tb tib x
"""
NEUTRAL = frozenset(_NEUTRAL.split())
"""Words that leave a number what it is, in any label."""

_TELLING = """
aggregate aggregated aggregates combined combining cumulative collective collectively together
summed sum overall cluster clusters node nodes rack racks server servers system systems pod
pods pair pairs paired dual twin quad octo multi several many multiple both dozen couple all
any across dgx hgx superpod gpus cards boards devices accelerators parts sockets
two three four five six seven eight nine ten twelve sixteen twice thrice
half halved doubled tripled third quarter fifth tenth fraction share portion percent percentage
slice slices mig instance partition partitions partitioned stack stacks link links lane lanes
channel channels port ports pin pins line lines sector sectors segment segments
tile tiles
achieved achievable achieve measured measures measure measuring measurement sustained
sustainable effective observed actual real realistic practical attained attainable reached
reaches reachable benchmarked benchmark profiled tested empirical empirically stream streaming
copy copied read write writes written triad load loads store stores random strided
scattered gather scatter memcpy microbenchmark simulated emulated modelled
most least minimum minimal min lowest smallest worst best average mean median typical idle
under over below above beyond almost nearly barely hardly exceed exceeds exceeding between
or vs versus than instead rather unlike except against compared relative plus minus times
later earlier until since after before
not no never nor neither none non without excluding
predecessor successor next sibling counterpart competitor rival
unreleased cancelled canceled formerly previously former previous old older past legacy
alleged allegedly claimed claims claim supposed supposedly rumored rumoured rumor rumour
hypothetical hypothetically imaginary fictional assumed assuming assume estimated estimate
estimates expected expect projected projection planned future upcoming leaked preliminary
extrapolated interpolated guessed guess if unless would could might may should whether doubt
denied deny cannot
throttled throttling capped undervolted overclocked underclocked oc locked free usable
available allocatable reserved remaining unused left allocated occupied spare visible
inclusive exclusive uncompressed compressed compression burst turbo
disabled fused defective broken faulty missing active busy consumed drawn utilized utilised
texture textures surface host guest cpu virtual emulation
"""
_DENIALS = """
myth false falsely wrong wrongly incorrect incorrectly untrue
disproved disproven refuted debunked deprecated obsolete outdated superseded retracted
withdrawn invalid invalidated bogus fake fabricated mistaken mistake misprint typo erroneous
misleading rejected refused contradicted disputed doubtful questionable unverified unconfirmed
"""
DENIALS = frozenset(_DENIALS.split())
"""Words that deny a statement wherever they stand beside it."""
TELLING = frozenset(_TELLING.split()) | DENIALS
"""Words that make another statement of a number unless the cited row says them too."""

_OF_MAKER = {
    "nvidia": "sm sms nvlink nvswitch tpc tpcs",
    "amd": "cu cus wgp wgps xcd xcds gcd gcds lds vgpr vgprs sgpr sgprs mfma xgmi infinity"
    " wavefront wavefronts",
}
OF_MAKER: dict[str, frozenset[str]] = {
    maker: frozenset(words.split()) for maker, words in _OF_MAKER.items()
}
"""Words that one maker has for the parts of its own hardware."""

_MEASURED_WORDS = (
    "measured measures measure measurement achieved achievable sustained effective observed actual"
    " real attained reached reaches benchmarked benchmark profiled tested empirical practical"
    " best median"
)
MEASURED_WORDS = frozenset(_MEASURED_WORDS.split())
"""Words of the telling ones that a measured row stands for."""

_FOREIGN = """
nvidia geforce quadro tesla amd instinct radeon intel apple google amazon aws huawei qualcomm
cerebras groq graphcore habana sambanova tenstorrent biren enflame cambricon
gaudi gaudi2 gaudi3 trainium trainium2 trainium3 inferentia inferentia2 tpu ascend kunpeng
lpu ipu npu wse maia mtia dojo ponte vecchio rialto battlemage alchemist
xeon epyc grace ryzen threadripper jetson thor orin xavier
kepler maxwell pascal volta turing ampere ada lovelace hopper blackwell rubin feynman
gcn vega cdna rdna
"""
FOREIGN = frozenset(_FOREIGN.split())
"""Makers, families and architectures of hardware; a page speaks of its own alone."""

_JOINED = re.compile(
    r"(?<![A-Za-z0-9])(cdna|rdna|sm|gfx|gaudi|trainium|inferentia|tpu|cc)[\s_-]*"
    r"(v?\d+)(?:[._](\d))?(?!\d)",
    re.IGNORECASE,
)
FOREIGN_FORM = re.compile(
    r"(?:cdna|rdna|gaudi|trainium|inferentia|gcn)\d+|tpuv?\d+[a-z]?|sm\d{2,3}[a-z]?|gfx\d+[a-z]*"
    r"|[pkmrt]\d{2,3}[a-z]?|gt[xs]?\d{3,4}"
)
"""What looks like a generation, a compile target, or a part of another family."""
MEMORY_KIND = re.compile(r"(?:hbm|lpddr|gddr|ddr)\d?[a-z]{0,2}")
_ENUMERATED = (
    "step iteration table figure fig section sec phase version row item note part page p no round"
    " appendix edition rev revision gen footnote"
)
ENUMERATED = frozenset(_ENUMERATED.split())
"""A number behind one of these counts paragraphs, not hardware."""


_GENERATION = re.compile(
    r"\b(?P<ordinal>first|second|third|fourth|fifth|sixth|\dst|\dnd|\drd|\dth)[\s-]+gen(?:eration)?"
    r"\b(?:\s+(?P<of>[A-Za-z]+))?",
    re.IGNORECASE,
)
_ORDINALS = {"1st": "first", "2nd": "second", "3rd": "third", "4th": "fourth", "5th": "fifth"}


def without_generation(text: str, page: Iterable[str] | None = None) -> str:
    """The text without ``fourth-generation`` before a name; with ``page`` only if that says it."""

    def rest(found: re.Match[str]) -> str:
        of = found["of"] or ""
        ordinal = _ORDINALS.get(found["ordinal"].casefold(), found["ordinal"].casefold())
        phrase = f"{ordinal}-generation {of}".casefold()
        said = page is None or any(phrase in line.casefold() for line in page)
        return of if said else found[0]

    return _GENERATION.sub(rest, text) if "gen" in text.casefold() else text


_DIE = re.compile(r"\b(?:the (?P<die>[A-Z]{2}\d{3}) die|the die is (?P<named>[A-Z]{2}\d{3}))\b")


def dies_of(lines: Iterable[str]) -> frozenset[str]:
    """The die that the prose of a page says its part is made of: tables speak of others too."""
    found = (hit for line in lines if "|" not in line for hit in _DIE.finditer(line))
    return frozenset((hit["die"] or hit["named"]).casefold() for hit in found)


def joined(text: str) -> str:
    """The text with ``CDNA 3``, ``sm_90`` and ``CC 9.0`` in one word each."""
    return _JOINED.sub(lambda found: "".join(part for part in found.groups() if part), text)
