"""kernel_resources.py NVCC ARCHITECTURE INCLUDE_FOLDER...: compiles the tensor-core attention and projection kernels for one architecture and checks what
ptxas reports: no spilled registers beyond ALLOWED, and static shared memory that fits. Dynamic shared memory is checked by static_asserts
where the kernels are launched. Exits with 77 if nvcc does not know the architecture."""
import pathlib
import re
import subprocess
import sys
import tempfile

SHARED = 48 * 1024  # bytes of static shared memory that a block may use on any GPU
# Bytes of spill stores and loads, of kernels at the limit of 255 registers.
ALLOWED = {
    ("90", "mma_attention_dkvI13__nv_bfloat16Li64ELi2ELb0E"): (8, 8),  # 90a uses wgmma instead
    ("90a", "attention_dkvILi2ELb1E"): (16, 16),  # heads wider than 64 columns, with dropout
}


def main():
    nvcc, architecture, *folders = sys.argv[1:]
    number = architecture.rstrip("a")
    known = subprocess.run([nvcc, "--list-gpu-arch"], capture_output=True, text=True, check=True).stdout.split()
    if f"compute_{number}" not in known:
        print(f"skipped: {nvcc} does not know sm_{architecture}")
        return 77
    source = pathlib.Path(__file__).with_name("attention_kernels.cu")
    with tempfile.TemporaryDirectory() as folder:
        command = [nvcc, "-std=c++20", "-O3", f"-arch=sm_{architecture}", "-cubin", "-Xptxas", "-v", *(f"-I{f}" for f in folders),
                   str(source), "-o", f"{folder}/kernels.cubin"]
        result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        print(result.stdout, result.stderr, sep="\n")
        return 1

    kernels = re.split(r"Compiling entry function '", result.stderr)[1:]
    failures, most_registers = [], 0
    for text in kernels:
        name = text.split("'")[0]
        stores, loads = map(int, re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", text).groups())
        registers = int(re.search(r"Used (\d+) registers", text).group(1))
        shared = int((re.search(r"(\d+) bytes smem", text) or [0, 0])[1])
        allowed = next((limit for (where, part), limit in ALLOWED.items() if where == architecture and part in name), (0, 0))
        most_registers = max(most_registers, registers)
        if stores > allowed[0] or loads > allowed[1]:
            failures.append(f"{name} spills {stores} bytes and loads {loads}; allowed are {allowed[0]} and {allowed[1]}")
        if shared > SHARED:
            failures.append(f"{name} declares {shared} bytes of shared memory; {SHARED} fit")
    print(f"sm_{architecture}: {len(kernels)} kernels, at most {most_registers} registers")
    if len(kernels) < 50:
        failures.append("found fewer than 50 kernels in the compiler's output; has its format changed?")
    print(*failures, sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
