"""Single functions."""
import torch
import torch.nn.functional as F

from references.transformer import losses


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

    record("softmax", lambda x: F.softmax(x, -1), x=normal(5, 7, scale=3.0))
    record("log_softmax", lambda x: F.log_softmax(x, -1), x=normal(5, 7, scale=3.0))
    ties = torch.tensor([[3.0, 1, 3, 2], [-1, -1, -1, -1], [0, -2, 5, 5]])  # the gradient goes to the first maximum
    for name, function in {"sum": torch.sum, "mean": torch.mean, "max": lambda x, dim: torch.max(x, dim).values}.items():
        record(f"reduce_columns/{name}", lambda x: function(x, 1), x=ties.clone())
        record(f"reduce_rows/{name}", lambda x: function(x, 0), x=ties.T.clone())
    target = torch.softmax(normal(4, 6, scale=2.0), -1)
    target[1, 2:] = 0  # sums to less than 1
    record("kl_divergence", lambda logits: F.kl_div(F.log_softmax(logits, -1), target, reduction="sum"), logits=normal(4, 6, scale=2.0))
    tensors["kl_divergence/target"] = target
    about = ("attention: 2 heads of 4; layer_norm: epsilon 1e-5; cross_entropy: smoothing 0.1; optimiser: rate 1e-2, betas 0.9 "
             "0.98, epsilon 1e-9, decay in the gradient (adam, amsgrad) or apart from it (adamw, amsgradw)")
    return tensors, about
