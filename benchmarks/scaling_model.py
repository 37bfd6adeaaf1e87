"""Simulates the time of a training step on 1 to 1,024 GPUs from a GPU's compute time, the gradients it sends and the
network's speed.

    scaling_model.py                            prints the tables of docs/scaling.md and writes docs/scaling.svg
    scaling_model.py --check [MEASURED.json]    checks that all are up to date, and that the model predicts a measured machine
                                                (two_processes.py --record): the step and its communication overhead, with sums
                                                during and after the backward pass
"""

import argparse
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Link:
    """The network link of one GPU, without contention."""
    name: str
    bytes_per_second: float
    latency: float  # seconds per message


@dataclass
class Cluster:
    """Machines with several GPUs. `inside` links GPUs in a machine; `between` is a GPU's share of the link between machines."""
    name: str
    gpus_per_machine: int
    inside: Link
    between: Link

    def sum_seconds(self, size, gpus):
        """Seconds of an all-reduce of `size` bytes: reduce-scatter in each machine, all-reduce between them, all-gather in each."""
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
    """The cost of a model's training step on one device."""
    name: str
    layers: list  # bytes of gradients of each layer, in the order in which the backward pass completes them
    rest: float  # bytes that complete at the end: embeddings and tied weights
    compute: float  # seconds of forward and backward
    update: float   # seconds of the optimiser

    def step_seconds(self, cluster, gpus, overlap=True, sharded=False):
        forward = self.compute / 3  # the backward pass computes two products for each forward one
        backward = self.compute - forward
        update = self.update / gpus if sharded else self.update
        if gpus == 1:
            return self.compute + self.update
        free = forward if overlap else self.compute  # when the network can start the next sum
        for i, size in enumerate(self.layers):
            complete = forward + backward * (i + 1) / len(self.layers) if overlap else self.compute
            free = max(free, complete) + cluster.sum_seconds(size, gpus)
        free = max(free, self.compute) + cluster.sum_seconds(self.rest, gpus)
        # An all-reduce is a reduce-scatter and an all-gather. A sharded update runs between the two, with the same traffic.
        return free + update


# Links in one direction, at the bandwidth that large sums achieve: NVLink of an H200 450 GB/s, InfiniBand NDR 400 Gbit/s
# per GPU.
NVLINK = Link("NVLink", 0.8 * 450e9, 3e-6)
CLUSTERS = [
    Cluster("NVLink and InfiniBand, 400 Gbit/s per GPU", 8, NVLINK, Link("InfiniBand", 0.9 * 50e9, 6e-6)),
    Cluster("NVLink and 25 Gbit/s per machine", 8, NVLINK, Link("Ethernet", 0.9 * 25e9 / 8 / 8, 30e-6)),
    Cluster("single GPUs, 25 Gbit/s each", 1, NVLINK, Link("Ethernet", 0.9 * 25e9 / 8, 30e-6)),
]


def transformer_base(tokens=24_576, tokens_per_second=1.647e6, width=512):
    """Transformer base: 6 + 6 layers of 512, a tied vocabulary of 32,000, float gradients, training speed of one H200."""
    inner, vocabulary = 4 * width, 32_000
    feed_forward = 2 * width * inner + inner + width
    encoder = 4 * (width * width + width) + feed_forward + 4 * width
    decoder = 8 * (width * width + width) + feed_forward + 6 * width
    parameters = 6 * (encoder + decoder) + vocabulary * width
    update = parameters * 30 / 4.8e12  # memory-bound: 30 bytes read or written per parameter
    return Model("base", [4 * decoder] * 6 + [4 * encoder] * 6, 4 * vocabulary * width, tokens / tokens_per_second - update, update)


WIDTHS, SPLITS = (512, 1024, 2048, 4096), (2, 4, 8)


def split_layers_seconds(width, gpus, tokens, traffic=1):
    """Seconds of a step with tensor parallelism in a machine: each GPU computes its part of every product for all tokens. In each
    direction, the activations are summed after each attention and feed-forward block: 2 of an encoder layer, 3 of a decoder layer.
    The next product needs them, so they overlap with nothing. Half of the tokens are source, half target."""
    sums = 2 * (6 * 2 + 6 * 3)
    model = at_width(width, tokens)
    return (model.compute + model.update) / gpus + traffic * sums * CLUSTERS[0].sum_seconds(2 * width * tokens / 2, gpus)


def split_batch_seconds(width, gpus, tokens):
    """Seconds of the same step with data parallelism and a sharded optimiser."""
    return at_width(width, tokens / gpus).step_seconds(CLUSTERS[0], gpus, sharded=True)


def at_width(width, tokens):
    """A model like base, at the FLOP/s that base reaches with 24,576 tokens; small batches are slower in reality."""
    base, model = transformer_base(), transformer_base(width=width)
    model.compute = base.compute * model.update / base.update * tokens / 24_576  # update: in proportion to the parameters
    return model


def tokens_to_split_layers(width, gpus, traffic=1):
    """The most tokens per step for which tensor parallelism is faster than data parallelism; 0 if it never is."""
    low, high = 0, 1 << 24
    while low + 1 < high:
        tokens = (low + high) // 2
        faster = split_layers_seconds(width, gpus, tokens, traffic) < split_batch_seconds(width, gpus, tokens)
        low, high = (tokens, high) if faster else (low, tokens)
    return low


def tensor_table():
    lines = ["| width | parameters | " + " | ".join(f"{gpus} GPUs" for gpus in SPLITS) + " |", "| --- | --- |" + " --- |" * len(SPLITS)]
    for width in WIDTHS:
        model = transformer_base(width=width)
        cells = [f"{tokens_to_split_layers(width, gpus):,}" for gpus in SPLITS]
        lines.append(f"| {width:,} | {(sum(model.layers) + model.rest) / 4e6:,.0f} M | " + " | ".join(cells) + " |")
    return "\n".join(lines)


COUNTS = [2 ** i for i in range(11)]


def efficiency(model, cluster, gpus, **how):
    return model.step_seconds(cluster, 1) / model.step_seconds(cluster, gpus, **how)


def table(model):
    lines = ["| GPUs | tokens per step | " + " | ".join(c.name for c in CLUSTERS) + " |", "| --- | --- |" + " --- |" * len(CLUSTERS)]
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
NEAR = 0.15  # tolerance as a share of a measured step
NEAR_ADDED = 0.45  # tolerance of the communication overhead, a difference of two measurements; doubling the overhead exceeds it


def link_of(found, traffic=1):
    """The link that reproduces the measured times of summing one number and all gradients, times `traffic`."""
    ranks, size = found["ranks"], sum(found["layers"]) + found["rest"]
    rate = 2 * (ranks - 1) / ranks * size / (found["sum"] - found["smallest_sum"])
    return Link("measured", rate / traffic if traffic else math.inf, traffic * found["smallest_sum"] / (2 * (ranks - 1)))


def compare(one, found, traffic=1):
    """Predicts the step on several ranks from the step on one rank and the times of sums alone, with sums during and after the backward
    pass. Yields for each a sentence, and whether the step and its communication overhead are close to the measurement."""
    ranks, link = found["ranks"], link_of(found, traffic)
    cluster = Cluster("this machine", ranks, link, link)
    for overlap, name, place in ((True, "step", "during"), (False, "step_after", "after")):
        # Each rank has its own text. Both programs measure in the same order, so that order effects cancel.
        alone = (one[name] - one["update"]) * found["tokens"] / ranks / one["tokens"]
        said = Model("measured", found["layers"], found["rest"], alone, one["update"]).step_seconds(cluster, ranks, overlap)
        step, added, said_added = found[name], found[name] - alone - one["update"], said - alone - one["update"]
        near = abs(said - step) <= NEAR * step and abs(said_added - added) <= NEAR_ADDED * added
        yield (f"{ranks} ranks, sums {place} the backward pass: a step takes {1e3 * step:.1f} ms, {1e3 * added:.1f} of them communication; "
               f"the model says {1e3 * said:.1f} and {1e3 * said_added:.1f} ms"), near


def check(measured):
    """Descriptions of all problems."""
    wrong = []
    model = transformer_base()
    for one in (table(model), tensor_table()):
        if one not in (DOCS / "scaling.md").read_text():
            wrong.append("a table of docs/scaling.md is not the model's: put in what scaling_model.py prints")
    for width, gpus in ((width, gpus) for width in WIDTHS for gpus in SPLITS):
        point, doubled = tokens_to_split_layers(width, gpus), tokens_to_split_layers(width, gpus, traffic=2)
        split, whole = split_layers_seconds(width, gpus, point), split_batch_seconds(width, gpus, point)
        if point and abs(split - whole) > 0.01 * whole:
            wrong.append(f"width {width}, {gpus} GPUs: at {point} tokens, steps take {split} and {whole} s, not the same")
        if doubled > 0.9 * point or split_layers_seconds(width, gpus, 24_576, traffic=0) > split_batch_seconds(width, gpus, 24_576):
            wrong.append(f"width {width}, {gpus} GPUs: sums of activations do not decide whether tensor parallelism pays off")
    if picture(model) != (DOCS / "scaling.svg").read_text():
        wrong.append("docs/scaling.svg is not the model's: run scaling_model.py")
    if measured:
        data = json.loads(Path(measured).read_text())
        for found in data["several"]:
            for words, near in compare(data["one"], found):
                print(words)
                if not near:
                    wrong.append(f"{words}: more than {100 * NEAR:.0f} % of the step or {100 * NEAR_ADDED:.0f} % of communication apart")
            for traffic, name in ((0, "without communication"), (2, "with doubled communication")):
                for words, near in compare(data["one"], found, traffic):
                    if near:
                        wrong.append(f"the comparison cannot fail: a model {name} passes it; {words}")
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
    print(table(model), tensor_table(), sep="\n\n")
    arguments.picture.write_text(picture(model))


if __name__ == "__main__":
    main()
