"""An AMD counter file through the command line: layouts from documents, never run on AMD here."""

from __future__ import annotations

HEADER = (
    "Correlation_Id,Dispatch_Id,Agent_Id,Queue_Id,Process_Id,Thread_Id,Grid_Size,Kernel_Id,"
    "Kernel_Name,Workgroup_Size,LDS_Block_Size,Scratch_Size,VGPR_Count,Accum_VGPR_Count,"
    "SGPR_Count,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp"
)
COUNTERS = {
    "SQ_LDS_BANK_CONFLICT": 9e6,
    "SQ_LDS_IDX_ACTIVE": 1.2e7,
    "LDSBankConflict": 55.0,
    "VALUUtilization": 40.0,
    "VALUBusy": 30.0,
    "FETCH_SIZE": 262144.0,
    "WRITE_SIZE": 262144.0,
}


def write(path):
    rows = [
        f'1,1,"Agent 4",1,10,10,1048576,1,"k_rows",256,16384,0,64,0,32,"{name}",{value},0,500000'
        for name, value in COUNTERS.items()
    ]
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return path


def test_what_rocprof_counts_becomes_causes(kbs, tmp_path):
    path = write(tmp_path / "10_counter_collection.csv")
    ran = kbs("diagnose", path, "--chip", "mi300x", "--json")
    assert ran.code == 0, ran.err
    kernel = ran.json["kernels"][0]
    found = {row["id"] for row in kernel["causes"] + kernel["effects"]}
    assert {"shared_bank_conflicts", "thread_divergence"} <= found
    moved = kernel["metrics"]["dram_read_bytes"] + kernel["metrics"]["dram_write_bytes"]
    assert kernel["metrics"]["dram_pct"] == 100 * moved / 5e-4 / 5.3e12
    assert any("dram_pct is bytes moved" in flag for flag in kernel["flags"])
