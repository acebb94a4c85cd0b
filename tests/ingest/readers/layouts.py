"""Small exports in the layouts of Nsight Compute and rocprof releases, shared by the tests."""

OLD_HEADER = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context","Stream",'
    '"Section Name","Metric Name","Metric Unit","Metric Value"'
)
NEW_HEADER = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",'
    '"Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"'
)
RULES = ',"Rule Name","Rule Type","Rule Description"'
SPEEDUP = ',"Estimated Speedup Type","Estimated Speedup"'
RAW_ID = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",'
    '"Grid Size","Device","CC"'
)


def old(section, name, unit, value, launch="0", kernel="saxpy(int, float*)", pid="28439"):
    """A row of 2019 to 2021: Kernel Time, no launch shape."""
    return (
        f'"{launch}","{pid}","app","127.0.0.1","{kernel}","2020-May-29 12:02:46","1","7",'
        f'"{section}","{name}","{unit}","{value}"'
    )


def new(section, name, unit, value, launch="0", kernel="saxpy(int, float*)", pid="473"):
    """A row of 2022 and later."""
    return (
        f'"{launch}","{pid}","app","127.0.0.1","{kernel}","1","7","(128, 1, 1)","(4096, 1, 1)",'
        f'"0","8.0","{section}","{name}","{unit}","{value}"'
    )


def raw(columns, *rows, launch_names=("saxpy",)):
    """A raw page: columns are (metric, unit); rows are lists of cells."""
    names = "".join(f',"{name}"' for name, _ in columns)
    units = '"",' * 11
    lines = [RAW_ID + names, units + ",".join(f'"{unit}"' for _, unit in columns)]
    for number, cells in enumerate(rows):
        kernel = launch_names[number % len(launch_names)]
        identity = (
            f'"{number}","473","app","127.0.0.1","{kernel}","1","7","(128, 1, 1)",'
            '"(4096, 1, 1)","0","9.0",'
        )
        lines.append(identity + ",".join(f'"{cell}"' for cell in cells))
    return "\n".join(lines) + "\n"


def lines(*rows):
    return "\n".join(rows) + "\n"


SOL = "GPU Speed Of Light"
SOLT = "GPU Speed Of Light Throughput"

DETAILS_2020 = lines(
    OLD_HEADER,
    old(SOL, "Memory Frequency", "cycle/second", "768683274.02"),
    old(SOL, "Elapsed Cycles", "cycle", "10251"),
    old(SOL, "SM Frequency", "cycle/second", "1138271055.75"),
    old(SOL, "Memory [%]", "%", "46.47"),
    old(SOL, "SM [%]", "%", "12.71"),
    old(SOL, "SOL DRAM", "%", "45.00"),
    old(SOL, "SOL L1/TEX Cache", "%", "16.39"),
    old(SOL, "SOL L2 Cache", "%", "31.08"),
    old(SOL, "Duration", "nsecond", "8992"),
    old("Launch Statistics", "Registers Per Thread", "register/thread", "16"),
    old("Launch Statistics", "Grid Size", "", "1,024"),
    old("Occupancy", "Achieved Occupancy", "%", "87.88"),
)

DETAILS_2023 = lines(
    "==PROF== Connected to process 371693 (/opt/bin/app)",
    "2208    2048    5608    0       358.154755      141.598150",
    "==PROF== Disconnected from process 371693",
    NEW_HEADER + RULES + SPEEDUP,
    new(SOLT, "DRAM Frequency", "cycle/nsecond", "1.21") + ",",
    new(SOLT, "SM Frequency", "cycle/usecond", "581.85") + ",",
    new(SOLT, "Memory Throughput", "%", "89.74") + ",",
    new(SOLT, "Duration", "usecond", "764.10") + ",",
    new("SpeedOfLight", "", "", "")
    + ',"SOLBottleneck","OPT","Memory is more heavily utilized than Compute. Look there.",'
    + '"global","12.5"',
    new("Memory Workload Analysis", "Memory Throughput", "Gbyte/second", "272.10") + ",",
)

TEXT_2020 = """\
==PROF== Connected to process 77
Conv 1
  saxpy(int, float*), 2021-Mar-01 12:00:01, Context 1, Stream 7
    Section: GPU Speed Of Light
    ---------------------------------------------------------------------- --------------- ------------------------------
    DRAM Frequency                                                           cycle/nsecond                           1.21
    SM Frequency                                                             cycle/usecond                         763.55
    Elapsed Cycles                                                                   cycle                      2,184,141
    Memory [%]                                                                           %                          91.78
    SOL DRAM                                                                             %                           9.08
    Duration                                                                       msecond                           2.86
    SM [%]                                                                               %                          41.95
    ---------------------------------------------------------------------- --------------- ------------------------------
    OK    The kernel is utilizing greater than 80.0% of the available compute or memory performance of the device. To
          further improve performance, work will likely need to be shifted from the most utilized to another unit.

    Section: Launch Statistics
    ---------------------------------------------------------------------- --------------- ------------------------------
    Block Size                                                                                                        256
    Waves Per SM                                                                                                     3.45
    ---------------------------------------------------------------------- --------------- ------------------------------
"""  # noqa: E501 - as ncu prints it

TEXT_METRICS = """\
[3300] python3.10@127.0.0.1
  void cask__5x_cudnn::offsets<(bool)0, (bool)0>(cask__5x_cudnn::Params) (3, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 7.0
    Section: Command line profiler metrics
    ----------------------------------------------- ----------- ------------
    Metric Name                                     Metric Unit Metric Value
    ----------------------------------------------- ----------- ------------
    dram__bytes_read.sum                                  Kbyte        26.62
    l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum                       64
    l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum       sector          256
    smsp__inst_executed.sum                                inst      (!) n/a
    ----------------------------------------------- ----------- ------------

"""  # noqa: E501 - as ncu prints it

SUMMARY = lines(
    '"Process ID","Process Name","Host Name","Kernel Name","Block Size","Grid Size","Device","CC",'
    '"Invocations","Section Name","Metric Name","Metric Unit","Minimum","Maximum","Average"',
    '"109","app","127.0.0.1","saxpy","(256, 1, 1)","(4096, 1, 1)","0","11.0","14","Occupancy",'
    '"Achieved Occupancy","%","73.56","79.38","74.92"',
    '"109","app","127.0.0.1","saxpy","(256, 1, 1)","(4096, 1, 1)","0","11.0","14",'
    '"GPU Speed Of Light Throughput","Duration","us","1.50","3.10","2.25"',
    '"109","app","127.0.0.1","other","(32, 1, 1)","(1, 1, 1)","0","11.0","2",'
    '"GPU Speed Of Light Throughput","Duration","ms","1.50","3.10","2.25"',
)

COUNTERS_V3 = lines(
    '"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size",'
    '"Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count",'
    '"Accum_VGPR_Count","SGPR_Count","Counter_Name","Counter_Value","Start_Timestamp",'
    '"End_Timestamp"',
    '1,1,"Agent 4",1,225,225,1048576,10,"void add<float>(float*, float const*)",64,1024,0,8,4,16,'
    '"FETCH_SIZE",2048.000000,317095766765717,317095766775957',
    '1,1,"Agent 4",1,225,225,1048576,10,"void add<float>(float*, float const*)",64,1024,0,8,4,16,'
    '"OccupancyPercent",4.34259040e-02,317095766765717,317095766775957',
    '1,1,"Agent 4",1,225,225,1048576,10,"void add<float>(float*, float const*)",64,1024,0,8,4,16,'
    '"TCC_HIT_sum",300.000000,317095766765717,317095766775957',
    '1,1,"Agent 4",1,225,225,1048576,10,"void add<float>(float*, float const*)",64,1024,0,8,4,16,'
    '"TCC_MISS_sum",100.000000,317095766765717,317095766775957',
    '2,2,"Agent 4",1,225,225,512,11,"scale",256,0,0,20,4,32,"FETCH_SIZE",1.000000,'
    "317095767013157,317095767022957",
)
TRACE_V3 = lines(
    '"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id",'
    '"Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","LDS_Block_Size",'
    '"Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X",'
    '"Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"',
    '"KERNEL_DISPATCH",2,1,0,7777,1,17,"gemm(double*, int)",102,1000,444520,1024,0,64,0,32,256,'
    "1,1,16384,64,1",
)
AGENTS = lines(
    '"Node_Id","Logical_Node_Id","Agent_Type","Cu_Count","Name","Product_Name"',
    '0,0,"CPU",0,"AMD EPYC 9654","AMD EPYC 9654"',
    '1,1,"GPU",304,"gfx942","AMD Instinct MI300X"',
)
PMC_PERF = lines(
    "Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,"
    "Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Wave_Size,Kernel_Name,Start_Timestamp,"
    "End_Timestamp,Correlation_ID,SQ_WAVES,SQ_LDS_IDX_ACTIVE,SQ_LDS_BANK_CONFLICT",
    '0,2,1,99,99,65536,256,2048,0,12,4,16,64,"copy(double*, double*)",5000,9000,0,1024,400,100',
)
