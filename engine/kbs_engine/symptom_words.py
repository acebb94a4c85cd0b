"""What people say of a kernel, in words, and the symptoms that they mean.

A cue names a symptom only where the sentence claims it: *no bank conflicts*, *conflict-free* and
*without spilling* deny it.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

_CUES: Final[dict[str, str]] = {
    "dram_bandwidth_saturated": r"(dram|hbm|memory|device.?memory)[ -](bandwidth[ -])?"
    r"(bound|limited|saturated)|bandwidth[ -](bound|limited)|saturat\w+ (the )?(dram|hbm|memory)",
    "l2_bandwidth_saturated": r"\bl2\b[^.;,]{0,20}(bound|saturated|at (its )?limit|bottleneck)",
    "l1_throughput_saturated": r"\bl1(/?tex)?\b[^.;,]{0,24}(bound|saturated|at (its )?limit|"
    r"bottleneck)",
    "shared_throughput_saturated": r"(shared memory|smem|\blds\b)[^.;,]{0,20}"
    r"(bandwidth|bound|saturated|throughput limit|bottleneck)",
    "excess_dram_traffic": r"(several|two|three|multiple|extra|\d) passes|re-?read\w*|re-?load\w*|"
    r"(reads?|load\w*)[^.;,]{0,40}(twice|again|several times|multiple times|more than once)|"
    r"round.?trips? (to|through) (global|dram|hbm|memory)|intermediates?[^.;,]{0,30}"
    r"(global|dram|hbm|memory|written|materiali[sz])|materiali[sz]\w*|"
    r"(unfused|separate) (kernels|ops|operations)|redundant (global )?(memory )?(loads?|reads?|"
    r"traffic)|excess\w* (dram |memory |global )?traffic",
    "uncoalesced_global_load": r"un-?coalesced|non-?coalesced|not coalesced|poor\w* coalesc|"
    r"strided (global )?(access|read|load)|stride[ds]? access|column.?(wise|major) (read|access|"
    r"load)|sectors?[ /](per|/) ?request|scattered (read|load)|(array of structs|\baos\b)",
    "uncoalesced_global_store": r"(un-?coalesced|non-?coalesced|strided|scattered|column.?wise)"
    r"[^.;,]{0,20}(store|write)",
    "narrow_global_access": r"scalar (load|access|store)|(one|1|2|4)[ -]byte (load|access|per)|"
    r"not vectori[sz]ed|un-?vectori[sz]ed|narrow (load|access|store)|32-?bit (load|access)es?|"
    r"(one|1|2|4|8)[ -](element|value|float|double|word|byte)s? per (thread|lane|load)",
    "low_l1_reuse": r"(no|little|low|poor|lack of) (data )?(reuse|locality)|each thread "
    r"(reads|loads)[^.;]{0,60}(global|directly)|without (shared memory|tiling|smem)|"
    r"(naive|na[iï]ve)[^.;]{0,30}(gemm|matmul|matrix|stencil|conv\w*)|no tiling|"
    r"arithmetic intensity (is )?(too )?low|low arithmetic intensity",
    "low_l2_hit_rate": r"(low|poor|bad) l2( cache)? (hit|locality|reuse)|l2( cache)? (miss|"
    r"thrash|hit[ -]rate (is )?(only |just )?(low|poor|[1-5]?\d ?%))|l2 thrash",
    "partial_sector_writes": r"partial[^.;,]{0,10}(sector|write|store)|(byte|sector)s? masks?",
    "shared_bank_conflicts": r"bank[ -]?conflicts?|\d+[ -]way conflict|conflicts? on shared|"
    r"shared (memory )?(store |load )?conflict",
    "register_spills": r"spill\w*|local memory (traffic|access|load|store|usage)|scratch "
    r"(memory|traffic)|register pressure[^.;]{0,30}local",
    "atomic_contention": r"atomic\w*[^.;]{0,50}(contention|contended|same|serial\w*|hot|slow|"
    r"bottleneck|few|one|heavy)|(contention|contended|serial\w*)[^.;,]{0,30}atomic|global atomics",
    "tensor_cores_idle": r"(no|not us\w+|without|unused|idle|zero) (the )?(tensor|matrix)[ -]?"
    r"(core|pipe|unit)|(tensor|matrix)[ -]?(core|pipe|unit)s?[^.;,]{0,25}(idle|unused|not used|"
    r"0 ?%|zero)|(fp32|cuda) cores? (instead|only)|scalar (fma|math)[^.;,]{0,20}(gemm|matmul)|"
    r"(ffma|simt)[ -](gemm|matmul|only)",
    "tensor_pipe_underfed": r"(tensor|matrix|mma|mfma)[ -]?(core|pipe|unit)?s?[^.;]{0,40}"
    r"(starv\w*|underfed|under-?utili[sz]\w*|stall\w*|low|wait\w*|only \d)|mma\.sync|"
    r"small tiles?|tiles? (is|are) (too )?small|"
    r"(tensor|matrix)[ -]?(core|pipe|unit)s? (wait|starve)|(matrix|mma|mfma|wgmma) "
    r"(instruction|step|burst)s?[^.;]{0,40}(wait|idle|late)|just in time|(only )?one "
    r"(tile|stage|load)[^.;]{0,20}in flight",
    "fma_pipe_saturated": r"(fma|fp32)( pipe\w*)?[^.;,]{0,20}(bound|saturated|at (its )?limit|"
    r"bottleneck)",
    "alu_pipe_saturated": r"(\balu\b|integer)( pipe\w*)?[^.;,]{0,30}(bound|saturated|bottleneck|"
    r"heavy|dominat\w*|overhead)|index (arithmetic|math|calculation|comput\w*)|address "
    r"(arithmetic|calculation|comput\w*)|"
    r"64-?bit (integer|offset|index|address)\w*|(offset|index|address)(es)? (is|are) computed",
    "xu_pipe_saturated": r"(\bxu\b|\bmufu\b|\bsfu\b|special function)\w*|(exp|exponential|sin|cos"
    r"|tanh|sqrt|transcendental)\w*[^.;,]{0,30}(bound|bottleneck|dominat\w*|limit\w*|throughput|"
    r"heavy)",
    "fp64_pipe_saturated": r"(fp64|double[ -]precision)( pipe\w*)?[^.;,]{0,20}(bound|saturated|"
    r"bottleneck)",
    "unintended_fp64": r"double (literal|constant|accumulat\w*)|accidental (fp64|double)|"
    r"(unintended|implicit|promoted to) (fp64|double)|fp64[^.;,]{0,30}(float|single|fp32)",
    "conversion_overhead": r"(type )?(conversion|cast|convert)s?\b[^.;,]{0,30}(overhead|cost|"
    r"dominat\w*|many|heavy|slow)|(dequant\w*|upcast\w*|unpack\w*)|"
    r"type[ -]change|int(8|4)[^.;]{0,30}(become|bf16|fp16|half)|mixed[ -]input",
    "non_fused_arithmetic": r"non-?fused|separate (multiply|mul)s? and adds?|fmad=false|"
    r"no fma contraction",
    "issue_slots_saturated": r"issue[ -](slot|rate|bound|limited)\w*[^.;,]{0,15}(satur\w*|full|"
    r"bound|limit\w*|bottleneck)?|instruction[ -](bound|issue|throughput)|too many instructions",
    "thread_divergence": r"diverg\w*|branch efficiency|few active (threads|lanes)",
    "predicated_off_threads": r"predicat\w*|masked[ -](off|out|lanes)|bounds?[ -](check|mask)\w*|"
    r"(wasted|idle) lanes",
    "long_scoreboard_stall": r"long[ _-]?scoreboard|(global|memory) latency|waiting (on|for) "
    r"(global|memory|loads|l1tex)|"
    r"latency (adds|is exposed|exposed)|exposed (load|memory|latency)|load(s|ed)? right "
    r"before|loads? (only )?after|one load (at a time|before|in flight)",
    "short_scoreboard_stall": r"short[ _-]?scoreboard",
    "mio_throttle_stall": r"\bmio\b[ _-]?throttle|\bmio\b",
    "lg_throttle_stall": r"\blg[ _-]?throttle",
    "tex_throttle_stall": r"\btex[ _-]?throttle",
    "math_pipe_throttle_stall": r"math[ _-]?pipe[ _-]?throttle",
    "barrier_stall": r"barriers?\b|__?syncthreads|block[ -]?sync\w*|synchroni[sz]ation "
    r"(overhead|stall|cost)",
    "membar_stall": r"membar|memory fence|threadfence",
    "wait_stall": r"\bwait stall|stall[ _]wait|dependency chain|dependent (instructions|chain|"
    r"math)|serial (chain|dependenc\w*)|(low|little|no) (ilp|instruction[ -]level)",
    "branch_resolving_stall": r"branch[ _-]resolving",
    "no_instruction_stall": r"(no|instruction)[ _-]?(instruction|cache|fetch)[ _-]?(stall|miss)|"
    r"\bicache|i-cache|code size",
    "drain_stall": r"\bdrain",
    "imc_miss_stall": r"\bimc\b|constant cache miss",
    "low_eligible_warps": r"(few|low|no|not enough) eligible|eligible warps|(latency|issue)[ -]"
    r"bound|not enough (warps|parallelism)|scheduler\w* (idle|starv\w*)|low ipc",
    "occupancy_limited_registers": r"(occupancy|warps)[^.;]{0,50}regist\w*|regist\w*[^.;]{0,50}"
    r"occupancy|(high|heavy) register (pressure|usage|count)|too many registers|register "
    r"pressure",
    "occupancy_limited_shared": r"occupancy[^.;]{0,50}(shared|smem|lds)|(shared memory|smem|lds)"
    r"[^.;]{0,40}occupancy",
    "occupancy_limited_block_size": r"(small|tiny) (thread)?blocks?|block size[^.;,]{0,20}(small|"
    r"32|64|too)|(one|single|1) warp per (block|cta|program)|occupancy[^.;]{0,40}block size",
    "achieved_occupancy_low": r"(low|poor) (achieved )?occupancy|achieved occupancy|occupancy "
    r"(is |of )?(only|just|low)",
    "small_grid": r"(small|tiny|few|too few|only \d+) (grid|blocks|ctas|thread ?blocks|programs|"
    r"workgroups)|(fewer|less) (blocks|ctas|programs|workgroups)? ?than (the )?(sms|cus|"
    r"multiprocessors)|grid (is )?(too )?small|sms (are |sit |stay )?idle|idle sms|"
    r"under-?fill\w*|batch size (of )?1\b|(one|single) block|"
    r"(only |just )?(one|two|three|four|few)( or (two|three|four))? (output )?(tiles|"
    r"blocks|programs|ctas)|(one|single) (worker|block|program|warp|thread) (adds|handles|"
    r"processes|sums|walks|per row)|serial (chunk|walk|loop)|sequential(ly)? sum",
    "tail_effect": r"tail (effect|wave)|wave quanti[sz]ation|partial wave|last wave|"
    r"quanti[sz]ation (inefficien\w*|effect|loss)",
    "workload_imbalance": r"(load|work|workload)[ -]?(im|un)-?balanc\w*|imbalanc\w*|uneven (work|"
    r"load|distribution|length)|variable[ -](length|size)|skew\w*|stragglers?|ragged|"
    r"(very |widely |strongly )?(different|unequal|varying|uneven) (in |row |sequence "
    r")?(length|size|work)s?|(long|popular|few) rows? (are|is|have|run)|differ (much |"
    r"widely |strongly )?in (length|size|work)",
    "launch_overhead_dominates": r"launch (overhead|latency|cost|bound)|kernel launch\w* (dominat"
    r"\w*|cost)|launch-?bound",
    "many_small_kernels": r"(many|lots of|hundreds of|thousands of|dozens of|several) (small |tiny "
    r"|short |separate )?(kernels|launches)|kernel launches|tiny kernels|(small|short) kernels",
    "host_overhead_in_call": r"(host|cpu|python)[ -](side )?(overhead|bound|time|latency)|"
    r"dispatcher|gpu idle between|gaps between kernels",
    "division_heavy": r"(integer |int )?(division|modulo|div/mod|divmod)\w*|\bidiv\b|% and /",
    "shared_capacity_wasted": r"(wasted|unused|oversized) (shared|smem|lds)|too much (shared "
    r"memory|smem)",
    "gmma_stall": r"\bgmma\b|wgmma[^.;,]{0,20}(wait|stall|serial\w*)|warpgroup[ _](wait|arrive)",
    "tma_pipe_saturated": r"\btma\b[^.;,]{0,20}(bound|saturated|limit\w*)",
    "clock_throttled": r"(clock|thermal|power)[ -]?(throttl\w*|cap\w*|limit\w*)|throttled clock",
    "exposed_epilogue": r"epilogue\w*[^.;]{0,40}(exposed|alone|overhead|not overlap\w*|serial\w*|"
    r"stall\w*|dominat\w*|bottleneck|idle|cost)|exposed epilogue",
    "slow_fallback_path": r"fall(s|ing)?[ -]?back|emulat(ed|ion)|generic path|slow path",
}

AT_ROOF: Final = re.compile(
    r"(already |near |close to |at )(the |its )?(\w+ ){0,2}(roof\w*|peak|speed of light|"
    r"hardware limit|theoretical (max|peak|limit)\w*|cublas|cudnn)|"
    r"\b(8[5-9]|9\d)(\.\d+)? ?(%|percent)[^.;]{0,25}(of )?(the )?(peak|roof\w*|sol\b|"
    r"speed of light|achievable|theoretical|cublas|copy)|nothing left|no headroom",
    re.IGNORECASE,
)
"""Sentences that say that the kernel has reached what the hardware gives."""

_COMPILED: Final = {name: re.compile(text, re.IGNORECASE) for name, text in _CUES.items()}
_DENIED: Final = re.compile(
    r"\b(no|not|without|zero|never|isn't|aren't|free of|0|avoids?|eliminat\w+|nor|few or no|"
    r"rules? out|ruled out)(\s+\w+){0,2}\s*$",
    re.IGNORECASE,
)
_FREE: Final = re.compile(r"^[\s-]*(free|is (zero|0|fine|ok|low)|(are|were) (zero|0|gone|none|"
                          r"absent))\b", re.IGNORECASE)  # fmt: skip
_CLAUSE: Final = re.compile(r"[.;:,]|\bbut\b|\balthough\b", re.IGNORECASE)


class Cues(msgspec.Struct, frozen=True, kw_only=True):
    """What a text says."""

    named: dict[str, str]
    """Symptom id to the words that name it."""
    denied: frozenset[str]
    at_roof: bool


def read_cues(text: str) -> Cues:
    """Symptoms that a text claims and denies; nothing is guessed from what it leaves out."""
    named: dict[str, str] = {}
    denied: set[str] = set()
    spaced = text.replace("_", " ")
    for name, pattern in _COMPILED.items():
        for match in pattern.finditer(spaced):
            if _denies(spaced, match) and not _negative(match.group()):
                denied.add(name)
            else:
                named.setdefault(name, " ".join(match.group().split()))
    return Cues(
        named=named,
        denied=frozenset(denied - named.keys()),
        at_roof=any(not _denies(text, match) for match in AT_ROOF.finditer(text)),
    )


def _denies(text: str, match: re.Match[str]) -> bool:
    before = _CLAUSE.split(text[: match.start()])[-1]
    after = text[match.end() :]
    return bool(_DENIED.search(before) or _FREE.search(after))


def _negative(words: str) -> bool:
    """The cue itself says no: *no reuse*, *not coalesced*."""
    return re.match(r"(no|not|without|un|non|low|lack|few)\b", words, re.IGNORECASE) is not None
