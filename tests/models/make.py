#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes testdata/models/NAME/*, the models of the tutorials' examples, and testdata/example/*, the
training run of README.md. Every run writes the same bytes, so a test can compare them with the
committed files.

    tests/models/make.py testdata
"""
import gzip
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import example  # noqa: E402
import resnet  # noqa: E402
import textsum  # noqa: E402
import towers  # noqa: E402
import wire  # noqa: E402


def put(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as f:
        f.write(data)


def packed(path, data):
    put(path + '.gz', gzip.compress(data, 9, mtime=0))


def main(top):
    for name, data in example.files():
        put(os.path.join(top, 'example', name), data)
    top = os.path.join(top, 'models')
    model, tensors = resnet.build()
    here = os.path.join(top, 'resnet')
    packed(here + '/graph.pbtxt', wire.graph_text(model))
    packed(here + '/run_meta', wire.run_meta(model))
    packed(here + '/tfprof_log', wire.op_log(model))
    index, data = wire.checkpoint(tensors)
    packed(here + '/model.ckpt.index', index)
    packed(here + '/model.ckpt.data-00000-of-00001', data)
    for name, model in (('textsum', textsum.build()), ('towers', towers.build())):
        here = os.path.join(top, name)
        packed(here + '/graph.pbtxt', wire.graph_text(model))
        packed(here + '/run_meta', wire.run_meta(model))
        packed(here + '/tfprof_log', wire.op_log(model))
    packed(os.path.join(top, 'textsum/profile_100'), wire.profile(textsum.build(), (0, 1)))


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit('usage: make.py FOLDER')
    main(sys.argv[1])
