# SPDX-License-Identifier: Apache-2.0
"""Counts the kernels that the stand-in launches."""
import types

import torch

ProfilerActivity = types.SimpleNamespace(CUDA='cuda')


class profile:
    def __init__(self, activities):
        self.begin = None

    def __enter__(self):
        self.begin = torch.counts['launched']
        return self

    def __exit__(self, *_):
        self.n = torch.counts['launched'] - self.begin

    def events(self):
        return [types.SimpleNamespace(device_type='cuda', name='empty_kernel')] * self.n
