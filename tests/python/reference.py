"""Writes the numbers of PyTorch (float64, CPU) that the C++ tests compare attn with: tests/files/*.safetensors.

    python tests/python/reference.py            writes the files again: the same PyTorch gives the same bytes
    python tests/python/reference.py --check    computes everything again and compares with the files, to 1e-9

transformer, transformer_prenorm, linformer: a 2+2-layer model, written out below, on four sentence pairs.
    parameter/NAME, gradient/NAME         all parameters, and the gradients of loss[0]
    source/tokens, source/offsets         sentences packed end to end; sentence i is tokens[offsets[i]] to tokens[offsets[i + 1]]
    target/tokens, target/offsets         the decoder's inputs: begin, then the sentence
    labels                                the sentence, then end; packed as the inputs are
    encoder/output, decoder/output        packed rows, before the output layer (with the final norm of the pre-norm model)
    loss                                  mean over labels: smoothing 0.1 as PyTorch defines it; none; 0.1 as fairseq defines it
    adam/NAME, adam/losses, adam/norms    after ten steps of Adam on loss[0], clipped at norm 1; loss and norm before each step
    adamw/NAME, adamw/losses              after ten steps of AdamW, decay 0.01, not clipped (transformer only)

lstm: torch.nn.LSTM over packed sequences, by CASE (layers, directions, initial states); sentences packed end to end, as above.
    CASE/x, CASE/offsets, CASE/h0, CASE/c0      h0 and c0, of [layer, sentence, width], where the case has initial states
    CASE/parameter/LAYER.DIRECTION.NAME         NAME: input, recurrent, bias (the sum of PyTorch's two)
    CASE/y, CASE/last_h, CASE/last_c            rows, and [layer, sentence, width]; both directions side by side in the width
    CASE/gradient/...                           of all of these: given for y, last_h and last_c, computed for the others

seq2seq: recurrent models of words 4, states 6, written out below, by CASE; sentences packed end to end, as above.
    source/tokens, source/offsets, target/tokens, target/offsets, labels      one batch for all cases
    CASE/parameter/NAME, CASE/gradient/NAME     all parameters, and the gradients of the loss
    CASE/logits, CASE/loss                      of every label; mean over labels

ops: single functions; OP/..., inputs under their names, gradients under gradient/... for the output's gradient `gradient/y`.
"""
import argparse
import math
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

SOURCE_VOCABULARY, TARGET_VOCABULARY = 23, 29
WIDTH, HEADS, INNER, LAYERS = 16, 4, 32, 2
PROJECTED, LONGEST = 3, 12  # the Linformer's k and n
BEGIN, END, FIRST_WORD = 2, 3, 4
SMOOTHING = 0.1
# Source and target words of each pair. The second is one word long on either side, the third has nothing to say (its decoder
# sees one row), the fourth fills all n columns of the Linformer's projections.
LENGTHS = [(5, 6), (1, 1), (7, 0), (12, 9)]


# --- the model: functions of a dictionary of parameters ---------------------------------------------------------------------


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


def linear(p, name, x):
    return x @ p[f"{name}.weight"].T + p[f"{name}.bias"]


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


# --- what the files hold ----------------------------------------------------------------------------------------------------


def make_batch(generator):
    words = [torch.randint(FIRST_WORD, size, (length,), generator=generator)
             for pair in LENGTHS for size, length in zip((SOURCE_VOCABULARY, TARGET_VOCABULARY), pair)]
    begin, end = torch.tensor([BEGIN]), torch.tensor([END])
    return {"source": words[0::2], "target": [torch.cat([begin, y]) for y in words[1::2]],
            "labels": [torch.cat([y, end]) for y in words[1::2]]}


def offsets(sentences):
    return torch.tensor([0] + [len(s) for s in sentences]).cumsum(0)


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


def ops_file(seed=2):
    generator = torch.Generator().manual_seed(seed)
    tensors = {}

    def normal(*shape, scale=1.0, mean=0.0):
        return mean + scale * torch.randn(shape, generator=generator)

    def record(op, function, **inputs):
        """Inputs, output and gradients of a function, the output's gradient being random."""
        inputs = {name: value.requires_grad_(value.is_floating_point()) for name, value in inputs.items()}
        y = function(**inputs)
        upstream = normal(*y.shape)
        wanted = {name: value for name, value in inputs.items() if value.requires_grad}
        gradients = torch.autograd.grad(y, wanted.values(), upstream)
        tensors.update({f"{op}/{name}": value for name, value in inputs.items()})
        tensors.update({f"{op}/y": y, f"{op}/gradient/y": upstream})
        tensors.update({f"{op}/gradient/{name}": value for name, value in zip(wanted, gradients)})

    record("layer_norm", lambda x, gain, bias: F.layer_norm(x, (8,), gain, bias, eps=1e-5),
           x=normal(5, 8, scale=2.0, mean=0.5), gain=normal(8, scale=0.3, mean=1.0), bias=normal(8))
    record("linear", F.linear, x=normal(5, 6), weight=normal(7, 6), bias=normal(7))
    record("linear_relu", lambda x, weight, bias: F.relu(F.linear(x, weight, bias)),
           x=normal(5, 6), weight=normal(7, 6), bias=normal(7))
    record("embedding", lambda table, tokens: F.embedding(tokens, table), table=normal(6, 4),
           tokens=torch.tensor([3, 0, 3, 5, 3, 0, 1]))  # 3 three times, 0 twice, 2 and 4 never

    # One sentence, two heads of four: rows are positions, columns 0 to 3 the first head.
    def heads(m):
        return m.view(1, len(m), 2, 4).transpose(1, 2)

    def attend(q, k, v, causal=False):
        return F.scaled_dot_product_attention(heads(q), heads(k), heads(v), is_causal=causal).transpose(1, 2).reshape(len(q), 8)

    record("attention/full", attend, q=normal(5, 8), k=normal(5, 8), v=normal(5, 8))
    record("attention/causal", lambda q, k, v: attend(q, k, v, causal=True), q=normal(5, 8), k=normal(5, 8), v=normal(5, 8))
    record("attention/cross", attend, q=normal(3, 8), k=normal(6, 8), v=normal(6, 8))
    record("attention/one_key", attend, q=normal(3, 8), k=normal(1, 8), v=normal(1, 8))

    # Losses per row (y), and the gradient of their sum.
    logits, labels = normal(6, 9, scale=2.0), torch.tensor([0, 8, 3, 3, 5, 1])
    tensors |= {"cross_entropy/logits": logits, "cross_entropy/labels": labels}
    logits = logits.clone().requires_grad_()
    for name, rows in zip(("smoothing_pytorch", "no_smoothing", "smoothing_fairseq"), losses(logits, labels)):
        tensors[f"cross_entropy/{name}/y"] = rows
        tensors[f"cross_entropy/{name}/gradient/logits"] = torch.autograd.grad(rows.sum(), logits, retain_graph=True)[0]

    # Ten steps with given gradients [10, 7], the first large (what AMSGrad remembers), one always zero; the vector after each.
    gradients = normal(10, 7, scale=0.1)
    gradients[0] *= 30
    gradients[:, 2] = 0
    start = normal(7)
    tensors |= {"optimiser/start": start, "optimiser/gradients": gradients}
    optimisers = {
        "adam": (torch.optim.Adam, {}),
        "adam_decay_0.1": (torch.optim.Adam, {"weight_decay": 0.1}),
        "adamw_decay_0.1": (torch.optim.AdamW, {"weight_decay": 0.1}),
        "amsgrad": (torch.optim.Adam, {"amsgrad": True}),
        "amsgrad_decay_0.1": (torch.optim.Adam, {"amsgrad": True, "weight_decay": 0.1}),
        "amsgradw_decay_0.1": (torch.optim.AdamW, {"amsgrad": True, "weight_decay": 0.1}),
    }
    for name, (kind, options) in optimisers.items():
        vector = start.clone().requires_grad_()
        optimiser = kind([vector], lr=1e-2, betas=(0.9, 0.98), eps=1e-9, **options)
        steps = []
        for gradient in gradients:
            vector.grad = gradient.clone()
            optimiser.step()
            steps.append(vector.detach().clone())
        tensors[f"optimiser/{name}"] = torch.stack(steps)
    about = ("attention: 2 heads of 4; layer_norm: epsilon 1e-5; cross_entropy: smoothing 0.1; optimiser: rate 1e-2, betas 0.9 "
             "0.98, epsilon 1e-9, decay in the gradient (adam, amsgrad) or apart from it (adamw, amsgradw)")
    return tensors, about


def lstm_file(seed=3):
    """Input width 3; one direction of 4 units, or two of 2."""
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    lengths = [3, 1, 6, 4]  # PyTorch refuses empty sequences

    def normal(*shape):
        return torch.randn(shape, generator=generator)

    for name, layers, bidirectional, states in (("uni1", 1, False, False), ("uni1_states", 1, False, True),
                                                ("uni3_states", 3, False, True), ("bi1", 1, True, False),
                                                ("bi2_states", 2, True, True), ("bi3", 3, True, False)):
        directions = 2 if bidirectional else 1
        width, units = 4, 4 // directions
        model = torch.nn.LSTM(3, units, layers, bidirectional=bidirectional)
        parameters = {}
        for layer in range(layers):
            for direction in range(directions):
                suffix = f"l{layer}" + ("_reverse" if direction else "")
                for ours, theirs in (("input", "weight_ih"), ("recurrent", "weight_hh"), ("bias", "bias_ih"), (None, "bias_hh")):
                    parameter = getattr(model, f"{theirs}_{suffix}")
                    parameter.data = 0.7 * normal(*parameter.shape)
                    if ours:
                        parameters[f"{layer}.{direction}.{ours}"] = parameter
        x = [normal(length, 3) for length in lengths]
        rows = torch.cat(x).requires_grad_()
        start = [normal(layers, len(lengths), width).requires_grad_() for _ in range(2)]

        def by_direction(state):  # [layer, sentence, both directions] -> PyTorch's [layer * direction, sentence, units]
            return state.view(layers, -1, directions, units).transpose(1, 2).reshape(layers * directions, -1, units)

        def side_by_side(state):
            return state.view(layers, directions, -1, units).transpose(1, 2).reshape(layers, -1, width)

        packed = torch.nn.utils.rnn.pack_sequence(torch.split(rows, lengths), enforce_sorted=False)
        y, last = model(packed, tuple(by_direction(state) for state in start) if states else None)
        y = torch.cat(torch.nn.utils.rnn.unpack_sequence(y))
        outputs = {"y": y, "last_h": side_by_side(last[0]), "last_c": side_by_side(last[1])}
        upstream = {key: normal(*value.shape) for key, value in outputs.items()}
        inputs = {"x": rows, **{f"parameter/{key}": value for key, value in parameters.items()}}
        inputs |= {"h0": start[0], "c0": start[1]} if states else {}
        gradients = torch.autograd.grad(list(outputs.values()), list(inputs.values()), list(upstream.values()))
        values = dict(inputs)
        for key in parameters:
            if key.endswith("bias"):
                layer, direction, _ = key.split(".")
                suffix = f"l{layer}" + ("_reverse" if direction == "1" else "")
                values[f"parameter/{key}"] = parameters[key] + getattr(model, f"bias_hh_{suffix}")
        tensors |= {f"{name}/{key}": value for key, value in (values | outputs).items()}
        tensors |= {f"{name}/gradient/{key}": value for key, value in zip(inputs, gradients)}
        tensors |= {f"{name}/gradient/{key}": value for key, value in upstream.items()}
        tensors[f"{name}/offsets"] = offsets(x)
    return tensors, "input width 3, output width 4"


# --- recurrent models ---------------------------------------------------------------------------------------------------------

WORDS, STATE = 4, 6  # columns of an embedding and of a state
RECURRENT = {  # encoder layers, decoder layers, what is special
    "feeding": (1, 1, set()),
    "feeding_deep": (2, 3, set()),
    "feeding_lexical": (1, 1, {"lexical"}),
    "plain": (2, 2, {"projected"}),
    "additive_past": (2, 2, {"projected", "additive", "past"}),
    "scaled_lexical": (1, 1, {"projected", "scaled", "lexical"}),
    "key_value_self": (1, 1, {"projected", "additive", "past", "key_value", "heads"}),
}
KEYS, VALUES, HIDDEN = 4, 3, 5  # key-value memory, additive score


def recurrent_parameters(encoder_layers, decoder_layers, kind, generator):
    p = {}

    def normal(name, *shape, scale=0.6):
        p[name] = scale * torch.randn(shape, generator=generator)

    def lstm(name, inputs, units):
        normal(f"{name}.input", 4 * units, inputs)
        normal(f"{name}.recurrent", 4 * units, units)
        normal(f"{name}.bias", 4 * units)

    def score(name):
        if "key_value" in kind:
            normal(f"{name}.memory.weight", KEYS + VALUES, STATE)
        if "additive" in kind:
            normal(f"{name}.score.key.weight", HIDDEN, KEYS if "key_value" in kind else STATE)
            normal(f"{name}.score.query.weight", HIDDEN, STATE)
            normal(f"{name}.score.v", HIDDEN)

    def heads(name):
        normal(f"{name}.in.weight", 3 * STATE, STATE)
        normal(f"{name}.in.bias", 3 * STATE)
        normal(f"{name}.out.weight", STATE, STATE)
        normal(f"{name}.out.bias", STATE)

    projected = "projected" in kind  # Chittersu's models; else Luong's with input feeding
    units = STATE if projected else STATE // 2
    normal("encoder.embedding.table", SOURCE_VOCABULARY, WORDS, scale=1.0)
    normal("embedding.table", TARGET_VOCABULARY, WORDS, scale=1.0)
    for i in range(encoder_layers):
        for direction in ("forward", "backward"):
            lstm(f"encoder.lstm.{i}.{direction}", WORDS if i == 0 else 2 * units, units)
    for i in range(decoder_layers):
        lstm(f"decoder.{i}", STATE if i else WORDS if projected else WORDS + STATE, STATE)
    if projected:
        for name in ("h", "c"):
            normal(f"encoder.initial.{name}", encoder_layers, 2 * STATE)
        for name in ("outputs", "hidden", "cell"):
            normal(f"encoder.{name}.weight", STATE, 2 * STATE)
        score("attention.encoder")
        if "past" in kind:
            score("attention.past")
        if "heads" in kind:
            heads("attention.source_heads")
            heads("attention.past_heads")
    else:
        normal("attention.score.weight", STATE, STATE)
        normal("mix.weight", STATE, 2 * STATE)
    context = VALUES if "key_value" in kind else STATE
    predicts_from = STATE
    if projected:
        predicts_from += context * (("additive" in kind or "scaled" in kind) + ("past" in kind))
    if "lexical" in kind:
        normal("lexical.hidden.weight", WORDS, WORDS)
        predicts_from += WORDS
    normal("output.weight", TARGET_VOCABULARY, predicts_from)
    normal("output.bias", TARGET_VOCABULARY)
    return p


def recurrent_logits(p, encoder_layers, decoder_layers, kind, source, target):
    """Of one sentence pair, step by step."""
    def lstm(name, inputs, state):  # PyTorch's own cell, over the rows of a sentence
        states = []
        for x in inputs:
            state = torch.lstm_cell(x[None], state, p[f"{name}.input"], p[f"{name}.recurrent"], p[f"{name}.bias"],
                                    torch.zeros_like(p[f"{name}.bias"]))
            states.append(state[0][0])
        return torch.stack(states), state

    def heads(name, x, causal):  # two of them, as torch.nn.functional has them
        mask = torch.full((len(x), len(x)), -math.inf).triu(1) if causal else None
        return F.multi_head_attention_forward(
            x[:, None], x[:, None], x[:, None], STATE, 2, p[f"{name}.in.weight"], p[f"{name}.in.bias"], None, None, False, 0.0,
            p[f"{name}.out.weight"], p[f"{name}.out.bias"], need_weights=False, attn_mask=mask)[0][:, 0]

    def look(name, query, states, *others):
        """The average of values, and of whatever else there is for each state, by the weights of one query."""
        keys = values = states
        if "key_value" in kind:
            keys, values = torch.split(states @ p[f"{name}.memory.weight"].T, [KEYS, VALUES], dim=1)
        if "additive" in kind:
            scores = torch.tanh(keys @ p[f"{name}.score.key.weight"].T + p[f"{name}.score.query.weight"] @ query)
            scores = scores @ p[f"{name}.score.v"]
        elif "scaled" in kind:
            scores = keys @ query / math.sqrt(STATE)
        else:
            scores = keys @ p[f"{name}.score.weight"].T @ query
        weights = torch.softmax(scores, 0)
        return [weights @ each for each in (values, *others)]

    projected, units = "projected" in kind, p["encoder.lstm.0.forward.recurrent"].shape[1]
    words = x = p["encoder.embedding.table"][source]
    last = []
    for i in range(encoder_layers):
        if projected:
            h, c = (p[f"encoder.initial.{name}"][i].view(2, 1, units) for name in "hc")
        else:
            h = c = torch.zeros(2, 1, units)
        forward, (h0, c0) = lstm(f"encoder.lstm.{i}.forward", x, (h[0], c[0]))
        backward, (h1, c1) = lstm(f"encoder.lstm.{i}.backward", x.flip(0), (h[1], c[1]))
        x = torch.cat([forward, backward.flip(0)], 1)
        last.append((torch.cat([h0, h1], 1), torch.cat([c0, c1], 1)))
    embedded = p["embedding.table"][target]
    seen, average = [], []
    if projected:
        memory = x @ p["encoder.outputs.weight"].T
        y = embedded
        for i in range(decoder_layers):
            h, c = last[i]
            y, _ = lstm(f"decoder.{i}", y, (h @ p["encoder.hidden.weight"].T, c @ p["encoder.cell.weight"].T))
        past = y
        if "heads" in kind:
            memory, past = heads("attention.source_heads", memory, False), heads("attention.past_heads", y, True)
        for t in range(len(target)):
            parts = [y[t]]
            if "additive" in kind or "scaled" in kind:
                context, mean = look("attention.encoder", y[t], memory, words)
                parts.append(context)
                average.append(mean)
            if "past" in kind:
                parts.append(look("attention.past", y[t], past[:t])[0] if t else torch.zeros_like(context))
            seen.append(torch.cat(parts))
    else:
        fed = torch.zeros(STATE)
        states = [(torch.zeros(1, STATE), torch.zeros(1, STATE)) for _ in range(decoder_layers)]
        for t in range(len(target)):
            h = torch.cat([embedded[t], fed])
            for i in range(decoder_layers):
                h, states[i] = lstm(f"decoder.{i}", h[None], states[i])
                h = h[0]
            context, mean = look("attention", h, x, words)
            fed = torch.tanh(p["mix.weight"] @ torch.cat([h, context]))
            seen.append(fed)
            average.append(mean)
    y = torch.stack(seen)
    if "lexical" in kind:
        f = torch.tanh(torch.stack(average))
        y = torch.cat([y, torch.tanh(f @ p["lexical.hidden.weight"].T) + f], 1)
    return linear(p, "output", y)


def seq2seq_file(seed=4):
    generator = torch.Generator().manual_seed(seed)
    batch = make_batch(generator)
    tensors = {
        "source/tokens": torch.cat(batch["source"]), "source/offsets": offsets(batch["source"]),
        "target/tokens": torch.cat(batch["target"]), "target/offsets": offsets(batch["target"]),
        "labels": torch.cat(batch["labels"]),
    }
    for name, shape in RECURRENT.items():
        p = {key: value.requires_grad_() for key, value in recurrent_parameters(*shape, generator).items()}
        logits = torch.cat([recurrent_logits(p, *shape, *pair) for pair in zip(batch["source"], batch["target"])])
        loss = F.cross_entropy(logits, tensors["labels"])
        gradients = torch.autograd.grad(loss, list(p.values()), materialize_grads=True)  # outputs of the plain model: unused
        tensors |= {f"{name}/logits": logits, f"{name}/loss": loss[None]}
        tensors |= {f"{name}/parameter/{key}": value for key, value in p.items()}
        tensors |= {f"{name}/gradient/{key}": value for key, value in zip(p, gradients)}
    return tensors, "words 4, states 6, keys 4, values 3, additive width 5, 2 heads"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    parser.add_argument("--files", type=Path, default=Path(__file__).resolve().parent.parent / "files", help="their folder")
    options = parser.parse_args()

    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)  # sums in one order, so that the bytes repeat
    torch.use_deterministic_algorithms(True)
    contents = {
        "transformer": model_file(adamw=True),
        "transformer_prenorm": model_file(prenorm=True),
        "linformer": model_file(linformer=True),
        "lstm": lstm_file(),
        "seq2seq": seq2seq_file(),
        "ops": ops_file(),
    }
    failures = 0
    options.files.mkdir(parents=True, exist_ok=True)
    for name, (tensors, about) in contents.items():
        path = options.files / f"{name}.safetensors"
        tensors = {key: value.detach().contiguous().clone() for key, value in tensors.items()}
        assert all(value.isfinite().all() for value in tensors.values()), name
        if not options.check:
            save_file(tensors, path, {"about": about})  # one entry: the order of several is random
            path.chmod(0o644)
            print(f"{path}: {len(tensors)} tensors, {path.stat().st_size} bytes")
            continue
        stored = load_file(path)
        wrong = sorted(stored.keys() ^ tensors.keys())
        wrong += [key for key in stored.keys() & tensors.keys() if stored[key].shape != tensors[key].shape
                  or not torch.allclose(stored[key], tensors[key], rtol=1e-9, atol=1e-9)]
        print(f"{path}: {'differs: ' + ', '.join(wrong) if wrong else 'as PyTorch ' + torch.__version__ + ' computes it'}")
        failures += bool(wrong)
    if failures:
        sys.exit(f"{failures} files are not what PyTorch computes")


if __name__ == "__main__":
    main()
