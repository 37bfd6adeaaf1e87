"""How long a training step takes on 1 to 1,024 GPUs, by simulation: what one GPU computes, what it sends, and what the network takes for it.

    scaling_model.py                            the table of docs/scaling.md, and docs/scaling.svg
    scaling_model.py --check [MEASURED.json]    whether both are there as it makes them, and whether what it says of a machine that
                                                was measured (two_processes.py --record) is near the measurement
"""

import argparse
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Link:
    """What one GPU sends and receives over, alone on it."""
    name: str
    bytes_per_second: float
    latency: float  # seconds of one message


@dataclass
class Cluster:
    """Machines of some GPUs: `inside` joins those of one machine, `between` the machines; a GPU has its share of that."""
    name: str
    gpus_per_machine: int
    inside: Link
    between: Link

    def sum_seconds(self, size, gpus):
        """Of adding up `size` bytes over all GPUs: scattered in each machine, added up between machines, gathered in each."""
        local = min(gpus, self.gpus_per_machine)
        machines = math.ceil(gpus / self.gpus_per_machine)
        seconds = 2 * ((local - 1) / local * size / self.inside.bytes_per_second + (local - 1) * self.inside.latency)
        if machines > 1:
            part = size / local
            ring = 2 * ((machines - 1) / machines * part / self.between.bytes_per_second + (machines - 1) * self.between.latency)
            tree = 2 * (part / self.between.bytes_per_second + math.ceil(math.log2(machines)) * self.between.latency)
            seconds += min(ring, tree)
        return seconds


@dataclass
class Model:
    """A model's step on one device."""
    name: str
    layers: list  # bytes of gradients of each layer, in the order in which the backward pass completes them
    rest: float   # bytes that are complete at its end: embeddings and what is tied to them
    compute: float  # seconds of forward and backward
    update: float   # seconds of the optimiser

    def step_seconds(self, cluster, gpus, overlap=True, sharded=False):
        forward = self.compute / 3  # the backward pass computes two products for each of the forward one's
        backward = self.compute - forward
        update = self.update / gpus if sharded else self.update
        if gpus == 1:
            return self.compute + self.update
        free = forward if overlap else self.compute  # when the network is free for the next sum
        for i, size in enumerate(self.layers):
            complete = forward + backward * (i + 1) / len(self.layers) if overlap else self.compute
            free = max(free, complete) + cluster.sum_seconds(size, gpus)
        free = max(free, self.compute) + cluster.sum_seconds(self.rest, gpus)
        # A sum is a scattering of sums and a gathering: where the update stands between the two, the same bytes travel.
        return free + update


# Links, in one direction, at what a large sum gets of them: NVLink of an H200 450 GB/s, InfiniBand NDR 400 Gbit/s a GPU.
NVLINK = Link("NVLink", 0.8 * 450e9, 3e-6)
CLUSTERS = [
    Cluster("NVLink and InfiniBand, 400 Gbit/s a GPU", 8, NVLINK, Link("InfiniBand", 0.9 * 50e9, 6e-6)),
    Cluster("NVLink and 25 Gbit/s a machine", 8, NVLINK, Link("Ethernet", 0.9 * 25e9 / 8 / 8, 30e-6)),
    Cluster("single GPUs, 25 Gbit/s each", 1, NVLINK, Link("Ethernet", 0.9 * 25e9 / 8, 30e-6)),
]


def transformer_base(tokens=24_576, tokens_per_second=1.647e6):
    """6 + 6 layers of 512, a tied vocabulary of 32,000, gradients in float; speed of a whole training on one H200."""
    width, inner, vocabulary = 512, 2048, 32_000
    feed_forward = 2 * width * inner + inner + width
    encoder = 4 * (width * width + width) + feed_forward + 4 * width
    decoder = 8 * (width * width + width) + feed_forward + 6 * width
    parameters = 6 * (encoder + decoder) + vocabulary * width
    update = parameters * 30 / 4.8e12  # each number read or written once: 30 bytes of a parameter, at the memory's rate
    return Model("base", [4 * decoder] * 6 + [4 * encoder] * 6, 4 * vocabulary * width, tokens / tokens_per_second - update, update)


COUNTS = [2 ** i for i in range(11)]


def efficiency(model, cluster, gpus, **how):
    return model.step_seconds(cluster, 1) / model.step_seconds(cluster, gpus, **how)


def table(model):
    lines = ["| GPUs | tokens a step | " + " | ".join(c.name for c in CLUSTERS) + " |", "| --- | --- |" + " --- |" * len(CLUSTERS)]
    for gpus in COUNTS:
        cells = []
        for cluster in CLUSTERS:
            shares = [efficiency(model, cluster, gpus, overlap=overlap, sharded=sharded)
                      for overlap, sharded in ((True, False), (False, False), (True, True))]
            cells.append(" / ".join(f"{100 * share:.0f}" for share in shares))
        lines.append(f"| {gpus:,} | {24_576 * gpus:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def picture(model):
    width, height, left, top = 720, 360, 60, 20
    right, bottom = width - 20, height - 50
    colours = ["#1f77b4", "#d62728", "#2ca02c"]
    x = lambda gpus: left + (right - left) * math.log2(gpus) / 10
    y = lambda share: bottom - (bottom - top) * share
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
           f'<title>Share of the speed of {model.name} on one GPU that each of n GPUs keeps</title>',
           f'<rect width="{width}" height="{height}" fill="white"/>']
    for share in (0, 0.25, 0.5, 0.75, 1):
        out.append(f'<line x1="{left}" x2="{right}" y1="{y(share):.1f}" y2="{y(share):.1f}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{y(share) + 4:.1f}" text-anchor="end">{100 * share:.0f} %</text>')
    for gpus in COUNTS:
        out.append(f'<text x="{x(gpus):.1f}" y="{bottom + 16}" text-anchor="middle">{gpus}</text>')
    out.append(f'<text x="{(left + right) / 2}" y="{height - 12}" text-anchor="middle">GPUs; dashed: without overlap</text>')
    for i, (cluster, colour) in enumerate(zip(CLUSTERS, colours)):
        for overlap in (True, False):
            points = " ".join(f"{x(n):.1f},{y(efficiency(model, cluster, n, overlap=overlap)):.1f}" for n in COUNTS)
            dash = "" if overlap else ' stroke-dasharray="5 4"'
            out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        out.append(f'<text x="{left + 14}" y="{bottom - 44 + 16 * i}" fill="{colour}">{cluster.name}</text>')
    return "\n".join(out) + "\n</svg>\n"


DOCS = Path(__file__).resolve().parent.parent / "docs"
NEAR = 0.15  # of a measured step


def link_of(found):
    """The link over which sums take as long as was measured, of one number and of all gradients."""
    ranks, size = found["ranks"], sum(found["layers"]) + found["rest"]
    rate = 2 * (ranks - 1) / ranks * size / (found["sum"] - found["smallest_sum"])
    return Link("measured", rate, found["smallest_sum"] / (2 * (ranks - 1)))


def said_of(one, found):
    """Seconds of a step on several ranks, from a step on one and from the sums alone. A core that adds up computes nothing else."""
    link = link_of(found)
    model = Model("measured", found["layers"], found["rest"], one["step"] - one["update"], one["update"])
    return model.step_seconds(Cluster("this machine", found["ranks"], link, link), found["ranks"], overlap=False)


def check(measured):
    """What is not as it should be, in sentences."""
    wrong = []
    model = transformer_base()
    if table(model) not in (DOCS / "scaling.md").read_text():
        wrong.append("the table of docs/scaling.md is not the model's: put in what scaling_model.py prints")
    if picture(model) != (DOCS / "scaling.svg").read_text():
        wrong.append("docs/scaling.svg is not the model's: run scaling_model.py")
    if measured:
        data = json.loads(Path(measured).read_text())
        for found in data["several"]:
            said = said_of(data["one"], found)
            words = (f"{found['ranks']} ranks: a step of {1e3 * found['step']:.1f} ms was measured, the model says {1e3 * said:.1f} ms "
                     f"({100 * (said / found['step'] - 1):+.0f} %)")
            print(words)
            if abs(said / found["step"] - 1) > NEAR:
                wrong.append(f"{words}: more than {100 * NEAR:.0f} % apart")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", nargs="?", const="", metavar="MEASURED.json")
    parser.add_argument("--picture", type=Path, default=DOCS / "scaling.svg")
    arguments = parser.parse_args()
    if arguments.check is not None:
        wrong = check(arguments.check)
        sys.exit("\n".join(wrong) if wrong else 0)
    model = transformer_base()
    print(table(model))
    arguments.picture.write_text(picture(model))


if __name__ == "__main__":
    main()
