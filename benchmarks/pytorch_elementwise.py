"""The expressions of benchmarks/elementwise_cuda.cu in PyTorch, eager and compiled.

    python benchmarks/pytorch_elementwise.py
"""
import torch

ROWS, CALLS, SAMPLES = 22528, 10, 30


def microseconds(work):
    """Median microseconds per call over several samples of several calls, by CUDA events."""
    for _ in range(CALLS):
        work()
    samples = []
    for _ in range(SAMPLES):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(CALLS):
            work()
        end.record()
        end.synchronize()
        samples.append(1000 * start.elapsed_time(end) / CALLS)
    return sorted(samples)[SAMPLES // 2]


def gated_residual(x, f, gate):
    return x + torch.sigmoid(gate) * f


def swiglu_product(x, f, gate):
    return torch.nn.functional.silu(x) * f


def measure(function, x, f, gate, dy):
    def both():
        x.grad = f.grad = gate.grad = None
        function(x, f, gate).backward(dy)

    with torch.no_grad():
        forward = microseconds(lambda: function(x, f, gate))
    return f"{forward:.1f} / {microseconds(both):.1f}"


def main():
    device = f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}"
    print(f"{device}, {ROWS} rows, bf16, us, forward / forward + backward\n")
    print("| | eager | compiled |\n| --- | --- | --- |")
    for columns in (512, 2048):
        def draw(*shape):
            return torch.empty(*shape, device="cuda", dtype=torch.bfloat16).uniform_(-2, 2).requires_grad_()

        x, f, gate, dy = draw(ROWS, columns), draw(ROWS, columns), draw(columns), draw(ROWS, columns).detach()
        for name, function in (("gated residual", gated_residual), ("SwiGLU's product", swiglu_product)):
            eager = measure(function, x, f, gate, dy)
            compiled = measure(torch.compile(function), x, f, gate, dy)
            print(f"| {name}, {columns} columns | {eager} | {compiled} |", flush=True)


if __name__ == "__main__":
    main()
