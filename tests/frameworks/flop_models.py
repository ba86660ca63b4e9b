# SPDX-License-Identifier: Apache-2.0
"""Thirty small models whose float operations PyTorch's counter counts, for torch_made.py: image models of torchvision, and the
parts of language, speech and recommendation models."""
import torch
import torchvision.models as vision
from torch import nn

functional = nn.functional


class GroupedAttention(nn.Module):
    """Groups of heads share their keys and values."""

    def __init__(self, size, heads=8, shared=2):
        super().__init__()
        self.heads, self.shared, self.each = heads, shared, size // heads
        self.query, self.out = nn.Linear(size, size, bias=False), nn.Linear(size, size, bias=False)
        self.both = nn.Linear(size, 2 * self.each * shared, bias=False)

    def forward(self, x):
        batch, length, size = x.shape
        query = self.query(x).view(batch, length, self.heads, self.each).transpose(1, 2)
        key, value = (t.view(batch, length, self.shared, self.each).transpose(1, 2).repeat_interleave(self.heads // self.shared, 1)
                      for t in self.both(x).chunk(2, -1))
        return self.out(functional.scaled_dot_product_attention(query, key, value).transpose(1, 2).reshape(batch, length, size))


class Block(nn.Module):
    def __init__(self, size=64):
        super().__init__()
        self.attention, self.first, self.second = GroupedAttention(size), nn.LayerNorm(size), nn.LayerNorm(size)
        self.wide = nn.Sequential(nn.Linear(size, 4 * size), nn.GELU(), nn.Linear(4 * size, size))

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.wide(self.second(x))


class Experts(nn.Module):
    """Each token goes to two of four experts."""

    def __init__(self, size=32):
        super().__init__()
        self.router = nn.Linear(size, 4)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(size, 64), nn.SiLU(), nn.Linear(64, size)) for _ in range(4))

    def forward(self, x):
        tokens = x.reshape(-1, x.shape[-1])
        weight, chosen = torch.topk(torch.softmax(self.router(tokens), -1), 2)
        out = torch.zeros_like(tokens)
        for i, expert in enumerate(self.experts):
            token, place = torch.where(chosen == i)
            out = out.index_add(0, token, expert(tokens[token]) * weight[token, place][:, None])
        return out.view_as(x)


class StateSpace(nn.Module):
    """A short depthwise convolution, then a recurrence step by step."""

    def __init__(self, size=32, states=8):
        super().__init__()
        self.states, self.size = states, size
        self.input, self.output, self.gates = nn.Linear(size, 2 * size), nn.Linear(size, size), nn.Linear(size, 2 * states + size)
        self.convolution = nn.Conv1d(size, size, 4, groups=size, padding=3)

    def forward(self, x):
        batch, length, size = x.shape
        u, z = self.input(x).chunk(2, -1)
        u = functional.silu(self.convolution(u.transpose(1, 2))[..., :length].transpose(1, 2))
        decay, into, out = self.gates(u).split([self.size, self.states, self.states], -1)
        state, rows = torch.zeros(batch, size, self.states), []
        for i in range(length):
            state = state * torch.sigmoid(decay[:, i, :, None]) + u[:, i, :, None] * into[:, i, None]
            rows.append((state * out[:, i, None]).sum(-1))
        return self.output(torch.stack(rows, 1) * functional.silu(z))


class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(100, 16, mode='sum') for _ in range(4))
        self.bottom = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, 16))
        self.top = nn.Sequential(nn.Linear(16 + 10, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        dense = self.bottom(x)
        every = torch.stack([dense] + [t(torch.randint(0, 100, (x.shape[0], 3))) for t in self.tables], 1)
        pairs = torch.bmm(every, every.transpose(1, 2))
        row, column = torch.tril_indices(5, 5, -1)
        return self.top(torch.cat([dense, pairs[:, row, column]], 1))


class Segmenter(nn.Module):
    """Halves the resolution twice, and restores it by transposed convolutions."""

    def __init__(self):
        super().__init__()
        self.down, self.deeper = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 16, 3, 2, 1)
        self.up, self.out = nn.ConvTranspose2d(16, 8, 2, 2), nn.ConvTranspose2d(16, 3, 2, 2)

    def forward(self, x):
        x = torch.relu(self.down(x))
        return self.out(torch.cat([x, torch.relu(self.up(torch.relu(self.deeper(x))))], 1))


class Speech(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.block = nn.Conv1d(80, 64, 3, padding=1), nn.Conv1d(64, 64, 3, 2, 1), Block()

    def forward(self, x):
        return self.block(functional.gelu(self.second(functional.gelu(self.first(x)))).transpose(1, 2))


def image(side=64, batch=1):
    return lambda: torch.randn(batch, 3, side, side)


def tokens(size=64, length=16):
    return lambda: torch.randn(2, length, size, requires_grad=True)


# name: (model, input, True if it has convolutions in groups)
MODELS = {
    'alexnet': (lambda: vision.alexnet(num_classes=10), image(96), False),
    'convnext': (vision.convnext_tiny, image(), True),
    'densenet': (vision.densenet121, image(), False),
    'efficientnet': (vision.efficientnet_b0, image(), True),
    'mnasnet': (vision.mnasnet0_5, image(), True),
    'mobilenet_v2': (vision.mobilenet_v2, image(), True),
    'mobilenet_v3': (vision.mobilenet_v3_small, image(), True),
    'regnet': (vision.regnet_y_400mf, image(), True),
    'resnet18': (vision.resnet18, image(), False),
    'resnet50': (vision.resnet50, image(), False),
    'resnext50': (vision.resnext50_32x4d, image(), True),
    'shufflenet': (vision.shufflenet_v2_x0_5, image(), True),
    'squeezenet': (vision.squeezenet1_1, image(), False),
    'swin': (vision.swin_t, image(), False),
    'vgg11': (lambda: vision.vgg11(num_classes=10), image(), False),
    'vit': (lambda: vision.VisionTransformer(image_size=64, patch_size=16, num_layers=2, num_heads=4, hidden_dim=64, mlp_dim=128),
            image(), False),
    'video': (vision.video.r3d_18, lambda: torch.randn(1, 3, 4, 32, 32), False),
    'segmenter': (Segmenter, image(32, 2), False),
    'encoder': (lambda: nn.Sequential(*[nn.TransformerEncoderLayer(64, 4, 128, batch_first=True) for _ in range(2)]), tokens(), False),
    'decoder': (lambda: nn.Sequential(Block(), Block(), nn.Linear(64, 100, bias=False)), tokens(), False),
    'attention': (lambda: GroupedAttention(64), tokens(), False),
    'experts': (Experts, tokens(32, 8), False),
    'state_space': (StateSpace, tokens(32, 8), True),
    'speech': (Speech, lambda: torch.randn(1, 80, 32), False),
    'recommender': (Recommender, lambda: torch.randn(8, 13), False),
    'perceptron': (lambda: nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 5)), lambda: torch.randn(7, 10), False),
    'lstm': (lambda: nn.LSTM(16, 32), lambda: torch.randn(5, 3, 16), False),
    'gru': (lambda: nn.GRU(16, 32), lambda: torch.randn(5, 3, 16), False),
    'groups': (lambda: nn.Conv2d(8, 16, 3, groups=4), lambda: torch.randn(2, 8, 9, 9), True),
    'upsample': (lambda: nn.Sequential(nn.Linear(16, 16), nn.Upsample(scale_factor=2)), lambda: torch.randn(2, 3, 16), False),
}


def run(model, x):
    """Runs a forward and a backward pass."""
    y = model(x)
    (y[0] if isinstance(y, tuple) else y).sum().backward()
