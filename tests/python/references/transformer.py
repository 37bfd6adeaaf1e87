"""The Transformer and the Linformer, written out: functions of a dictionary of parameters, and the files that hold their numbers."""
import math

import torch
import torch.nn.functional as F

from references.sentences import SOURCE_VOCABULARY, TARGET_VOCABULARY, linear, make_batch, offsets

WIDTH, HEADS, INNER, LAYERS = 16, 4, 32, 2
PROJECTED, LONGEST = 3, 12  # the Linformer's k and n
SMOOTHING = 0.1


def parameters(prenorm, linformer, generator):
    """name -> tensor, of sizes at which nothing saturates and nothing vanishes."""
    p = {}

    def normal(name, *shape, scale, mean=0.0):
        p[name] = mean + scale * torch.randn(shape, generator=generator)

    def linear(name, outputs, inputs):
        normal(f"{name}.weight", outputs, inputs, scale=inputs**-0.5)
        normal(f"{name}.bias", outputs, scale=0.2)

    def norm(name):
        normal(f"{name}.gain", WIDTH, scale=0.2, mean=1.0)
        normal(f"{name}.bias", WIDTH, scale=0.2)

    def attention(name, projected):
        linear(f"{name}.in", 3 * WIDTH, WIDTH)
        if projected:
            normal(f"{name}.projection.keys", PROJECTED, LONGEST, scale=0.5)
            normal(f"{name}.projection.values", PROJECTED, LONGEST, scale=0.5)
        linear(f"{name}.out", WIDTH, WIDTH)

    def feed_forward(name):
        linear(f"{name}.feed_forward.up", INNER, WIDTH)
        linear(f"{name}.feed_forward.down", WIDTH, INNER)
        norm(f"{name}.feed_forward_norm")

    normal("source_embedding.table", SOURCE_VOCABULARY, WIDTH, scale=WIDTH**-0.5)
    normal("target_embedding.table", TARGET_VOCABULARY, WIDTH, scale=WIDTH**-0.5)
    for i in range(LAYERS):
        attention(f"encoder.layers.{i}.attention", linformer)
        norm(f"encoder.layers.{i}.attention_norm")
        feed_forward(f"encoder.layers.{i}")
    for i in range(LAYERS):
        attention(f"decoder.layers.{i}.self_attention", False)
        norm(f"decoder.layers.{i}.self_norm")
        attention(f"decoder.layers.{i}.cross_attention", linformer)
        norm(f"decoder.layers.{i}.cross_norm")
        feed_forward(f"decoder.layers.{i}")
    if prenorm:
        norm("encoder.norm")
        norm("decoder.norm")
    linear("output", TARGET_VOCABULARY, WIDTH)
    return p


def norm(p, name, x):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred**2).mean(-1, keepdim=True)
    return centred / torch.sqrt(variance + 1e-5) * p[f"{name}.gain"] + p[f"{name}.bias"]


def attention(p, name, x, memory, causal=False):
    weight, bias = p[f"{name}.in.weight"], p[f"{name}.in.bias"]
    queries = x @ weight[:WIDTH].T + bias[:WIDTH]
    keys = memory @ weight[WIDTH : 2 * WIDTH].T + bias[WIDTH : 2 * WIDTH]
    values = memory @ weight[2 * WIDTH :].T + bias[2 * WIDTH :]
    if f"{name}.projection.keys" in p:
        keys = p[f"{name}.projection.keys"][:, : len(memory)] @ keys
        values = p[f"{name}.projection.values"][:, : len(memory)] @ values
    queries, keys, values = (m.view(len(m), HEADS, -1).transpose(0, 1) for m in (queries, keys, values))
    scores = queries @ keys.transpose(1, 2) / math.sqrt(WIDTH // HEADS)
    if causal:
        scores = scores + torch.full_like(scores, -math.inf).triu(1)
    mixed = torch.softmax(scores, -1) @ values
    return linear(p, f"{name}.out", mixed.transpose(0, 1).reshape(len(x), WIDTH))


def feed_forward(p, name, x):
    return linear(p, f"{name}.feed_forward.down", torch.relu(linear(p, f"{name}.feed_forward.up", x)))


def residual(p, name, x, layer):
    if "encoder.norm.gain" in p:
        return x + layer(norm(p, name, x))
    return norm(p, name, x + layer(x))


def embed(p, name, tokens):
    angles = torch.arange(len(tokens))[:, None] / 10000 ** (torch.arange(0, WIDTH, 2) / WIDTH)
    positions = torch.stack([angles.sin(), angles.cos()], -1).view(len(tokens), WIDTH)
    return p[f"{name}.table"][tokens] * math.sqrt(WIDTH) + positions


def encode(p, tokens):
    x = embed(p, "source_embedding", tokens)
    for i in range(LAYERS):
        layer = f"encoder.layers.{i}"
        x = residual(p, f"{layer}.attention_norm", x, lambda y: attention(p, f"{layer}.attention", y, y))
        x = residual(p, f"{layer}.feed_forward_norm", x, lambda y: feed_forward(p, layer, y))
    return norm(p, "encoder.norm", x) if "encoder.norm.gain" in p else x


def decode(p, tokens, memory):
    x = embed(p, "target_embedding", tokens)
    for i in range(LAYERS):
        layer = f"decoder.layers.{i}"
        x = residual(p, f"{layer}.self_norm", x, lambda y: attention(p, f"{layer}.self_attention", y, y, causal=True))
        x = residual(p, f"{layer}.cross_norm", x, lambda y: attention(p, f"{layer}.cross_attention", y, memory))
        x = residual(p, f"{layer}.feed_forward_norm", x, lambda y: feed_forward(p, layer, y))
    return norm(p, "decoder.norm", x) if "decoder.norm.gain" in p else x


def losses(logits, labels):
    """[PyTorch's smoothing, none, fairseq's smoothing], each a sum over labels."""
    log_probability = torch.log_softmax(logits, -1)
    gold = -log_probability.gather(1, labels[:, None]).squeeze(1)
    everything = -log_probability.sum(-1)
    others = everything - gold
    pytorch = F.cross_entropy(logits, labels, reduction="none", label_smoothing=SMOOTHING)
    fairseq = (1 - SMOOTHING) * gold + SMOOTHING / (logits.shape[1] - 1) * others
    return torch.stack([pytorch, gold, fairseq])


def run(p, batch):
    """Sentence by sentence: (encoder outputs, decoder outputs, mean losses [3])."""
    memories = [encode(p, source) for source in batch["source"]]
    outputs = [decode(p, target, memory) for target, memory in zip(batch["target"], memories)]
    labels = torch.cat(batch["labels"])
    return torch.cat(memories), torch.cat(outputs), losses(linear(p, "output", torch.cat(outputs)), labels).mean(1)


def train(start, batch, make_optimiser, clip):
    """Ten steps: (parameters after them, loss before each, gradient norm before each)."""
    p = {name: value.clone().requires_grad_() for name, value in start.items()}
    optimiser = make_optimiser(p.values())
    history, norms = [], []
    for _ in range(10):
        optimiser.zero_grad()
        loss = run(p, batch)[2][0]
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(p.values(), clip))
        optimiser.step()
        history.append(loss.detach())
    return {name: value.detach() for name, value in p.items()}, torch.stack(history), torch.stack(norms)


def model_file(prenorm=False, linformer=False, adamw=False, seed=1):
    generator = torch.Generator().manual_seed(seed)
    start, batch = parameters(prenorm, linformer, generator), make_batch(generator)
    p = {name: value.clone().requires_grad_() for name, value in start.items()}
    encoder_output, decoder_output, loss = run(p, batch)
    if not linformer:
        compare_with_torch_nn(start, batch, prenorm, encoder_output.detach(), decoder_output.detach())
    gradients = dict(zip(p, torch.autograd.grad(loss[0], p.values())))

    tensors = {
        "source/tokens": torch.cat(batch["source"]), "source/offsets": offsets(batch["source"]),
        "target/tokens": torch.cat(batch["target"]), "target/offsets": offsets(batch["target"]),
        "labels": torch.cat(batch["labels"]),
        "encoder/output": encoder_output, "decoder/output": decoder_output, "loss": loss,
    }
    tensors |= {f"parameter/{name}": value for name, value in start.items()}
    tensors |= {f"gradient/{name}": value for name, value in gradients.items()}
    after, tensors["adam/losses"], tensors["adam/norms"] = train(
        start, batch, lambda p: torch.optim.Adam(p, lr=1e-3, betas=(0.9, 0.98), eps=1e-9), clip=1.0)
    tensors |= {f"adam/{name}": value for name, value in after.items()}
    if adamw:
        after, tensors["adamw/losses"], _ = train(
            start, batch, lambda p: torch.optim.AdamW(p, lr=1e-3, betas=(0.9, 0.98), eps=1e-9, weight_decay=0.01), math.inf)
        tensors |= {f"adamw/{name}": value for name, value in after.items()}
    about = f"{HEADS} heads, {'pre' if prenorm else 'post'}-norm" + (f", projected to {PROJECTED}" if linformer else "")
    return tensors, about


def compare_with_torch_nn(p, batch, prenorm, encoder_output, decoder_output):
    """The definition above against torch.nn's layers with the same parameters; an AssertionError when they differ."""
    def fill(module, name, attentions, norms):
        theirs = {}
        for torch_name, ours in attentions.items():
            theirs[f"{torch_name}.in_proj_weight"] = p[f"{name}.{ours}.in.weight"]
            theirs[f"{torch_name}.in_proj_bias"] = p[f"{name}.{ours}.in.bias"]
            for part in ("weight", "bias"):
                theirs[f"{torch_name}.out_proj.{part}"] = p[f"{name}.{ours}.out.{part}"]
        for part in ("weight", "bias"):
            theirs[f"linear1.{part}"] = p[f"{name}.feed_forward.up.{part}"]
            theirs[f"linear2.{part}"] = p[f"{name}.feed_forward.down.{part}"]
        for i, ours in enumerate(norms, 1):
            theirs[f"norm{i}.weight"], theirs[f"norm{i}.bias"] = p[f"{name}.{ours}.gain"], p[f"{name}.{ours}.bias"]
        module.load_state_dict(theirs)
        return module

    def final(name, x):
        return F.layer_norm(x, (WIDTH,), p[f"{name}.norm.gain"], p[f"{name}.norm.bias"]) if prenorm else x

    options = dict(dim_feedforward=INNER, dropout=0.0, batch_first=True, norm_first=prenorm)
    encoder = [fill(torch.nn.TransformerEncoderLayer(WIDTH, HEADS, **options), f"encoder.layers.{i}", {"self_attn": "attention"},
                    ["attention_norm", "feed_forward_norm"]) for i in range(LAYERS)]
    decoder = [fill(torch.nn.TransformerDecoderLayer(WIDTH, HEADS, **options), f"decoder.layers.{i}",
                    {"self_attn": "self_attention", "multihead_attn": "cross_attention"},
                    ["self_norm", "cross_norm", "feed_forward_norm"]) for i in range(LAYERS)]
    memories, outputs = [], []
    for source, target in zip(batch["source"], batch["target"]):
        x = embed(p, "source_embedding", source)[None]
        for layer in encoder:
            x = layer(x)
        memories.append(final("encoder", x))
        y = embed(p, "target_embedding", target)[None]
        for layer in decoder:
            y = layer(y, memories[-1], tgt_mask=torch.nn.Transformer.generate_square_subsequent_mask(len(target)))
        outputs.append(final("decoder", y))
    torch.testing.assert_close(torch.cat(memories, 1)[0], encoder_output, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(torch.cat(outputs, 1)[0], decoder_output, rtol=1e-12, atol=1e-12)
