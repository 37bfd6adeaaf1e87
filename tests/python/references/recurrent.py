"""torch.nn.LSTM, and recurrent models written out."""
import math

import torch
import torch.nn.functional as F

from references.sentences import SOURCE_VOCABULARY, TARGET_VOCABULARY, linear, make_batch, offsets

WORDS, STATE = 4, 6  # columns of an embedding and of a state
RECURRENT = {  # encoder layers, decoder layers, what is special
    "feeding": (1, 1, set()),
    "feeding_deep": (2, 3, set()),
    "feeding_lexical": (1, 1, {"lexical"}),
    "plain": (2, 2, {"projected"}),
    "additive_past": (2, 2, {"projected", "additive", "past"}),
    "scaled_lexical": (1, 1, {"projected", "scaled", "lexical"}),
    "key_value_self": (1, 1, {"projected", "additive", "past", "key_value", "heads"}),
    "feeding_states": (2, 2, {"no_attention"}),
}
KEYS, VALUES, HIDDEN = 4, 3, 5  # key-value memory, additive score


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
    elif "no_attention" not in kind:
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
        if "no_attention" in kind:  # all that the decoder knows of the source
            states, fed = list(last), last[-1][0][0]
        for t in range(len(target)):
            h = torch.cat([embedded[t], fed])
            for i in range(decoder_layers):
                h, states[i] = lstm(f"decoder.{i}", h[None], states[i])
                h = h[0]
            if "no_attention" in kind:
                fed = h
                seen.append(fed)
                continue
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
