#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Questions of an agent about real files, answered over MCP. The known answers are computed here from the bytes of the files.

    tests/mcp/real_run.py --program build/check/tfprof --realdata DIR
"""
import argparse
import collections
import gzip
import json
import os
import re
import sqlite3
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'check')]
import cases  # noqa: E402
from client import Server  # noqa: E402

CALLS_MOST = 4
BERT, RESNET = 'kineto/h100_bert_small.json.gz', 'kineto/resnet50_gpu.pt.trace.json.gz'
RANK, NORM = 'kineto/sampled_rank-0.json.gz', 'kineto/mi300_normalization.json.gz'
ALEX, TRITON = 'kineto/alexnet.json.gz', 'kineto/torch_compile_triton.json.gz'
NSYS, ORT = 'nsys/h100_2gpu_1s.sqlite', 'onnxruntime/resnet_inference.json'
SGLANG = 'kineto_graphs/sglang_prefilldecode/sglang_Qwen3-8B_prefilldecode.json.gz'
LOOP, MODEL = 'graphs/while_loop.pbtxt', 'tensorflow-1.8/graph.pbtxt'


# ---- independent readers ----

def path_of(file):
    return os.path.join(ARGS.realdata, file)


def events(file, *categories):
    with gzip.open(path_of(file)) as f:
        return [e for e in json.load(f)['traceEvents'] if e.get('ph') == 'X' and str(e.get('cat')).lower() in categories]


def kernels(file):
    """Returns {name: (count, nanoseconds)} of the kernels of a PyTorch trace."""
    found = collections.defaultdict(lambda: (0, 0))
    for e in events(file, 'kernel'):
        count, ns = found[e['name']]
        found[e['name']] = count + 1, ns + round(e['dur'] * 1000)
    return found


def longest(file):
    return max(kernels(file).values(), key=lambda x: x[1])


def allocations(file):
    """Returns the number and the bytes of the allocations on devices of a PyTorch trace."""
    with gzip.open(path_of(file)) as f:
        args = [e['args'] for e in json.load(f)['traceEvents'] if e.get('name') == '[memory]']
    sizes = [a['Bytes'] for a in args if a['Device Type'] == 1 and a['Bytes'] > 0]
    return len(sizes), sum(sizes)


def steps(file):
    with gzip.open(path_of(file)) as f:
        return sorted({int(x) for x in re.findall(r'"ProfilerStep#(\d+)"', f.read().decode())})


def query(text):
    """Returns the cursor of a query of the Nsight Systems export."""
    with sqlite3.connect('file:%s?mode=ro&immutable=1' % path_of(NSYS), uri=True) as d:
        return d.execute(text)


def busy(device):
    """Returns the time in which kernels, copies or sets ran on a device of the Nsight Systems export."""
    tables = ['SELECT start, "end" FROM CUPTI_ACTIVITY_KIND_%s WHERE deviceId = %d' % (t, device) for t in ('KERNEL', 'MEMCPY', 'MEMSET')]
    total = end = 0
    for start, stop in query(' UNION ALL '.join(tables) + ' ORDER BY 1').fetchall():
        total += max(0, stop - max(start, end))
        end = max(end, stop)
    return total


def ort_time(op):
    with open(path_of(ORT)) as f:
        return sum(e['dur'] for e in json.load(f) if e.get('cat') == 'Node' and e['name'].endswith('_kernel_time') and e['args']['op_name'] == op)


def count_in(file, pattern):
    with open(path_of(file)) as f:
        return len(re.findall(pattern, f.read(), re.M))


# ---- the questions ----

def table(file, view, **more):
    return 'table', dict(more, file=file, view=view)


def only_kernels(file, **more):
    return table(file, 'kernels', filter=['category=kernel'], **more)


def first(*names):
    return lambda a: tuple(a['rows'][0][n] for n in names)


def total(name):
    return lambda a: sum(r[name] for r in a['rows'])


TOP = dict(sort='-total_ns', limit=1, columns=['name', 'count', 'total_ns'])
# question, calls, function of their answers, the known answer
QUESTIONS = [
    ('How many kernels ran in the BERT trace?', [only_kernels(BERT)], total('count'), lambda: len(events(BERT, 'kernel'))),
    ('How often did its most expensive kernel run, and how long?', [only_kernels(BERT, **TOP)], first('count', 'total_ns'), lambda: longest(BERT)),
    ('Which step was profiled?', [('open', {'path': BERT})], lambda a: a['steps']['loaded'], lambda: steps(BERT)),
    ('How many kernels ran in the ResNet trace?', [only_kernels(RESNET, columns=['count'])], total('count'), lambda: len(events(RESNET, 'kernel'))),
    ('How often did its most expensive kernel run, and how long?', [only_kernels(RESNET, **TOP)], first('count', 'total_ns'), lambda: longest(RESNET)),
    ('Which steps does it have?', [table(RESNET, 'steps', columns=['step'])], lambda a: [r['step'] for r in a['rows']], lambda: steps(RESNET)),
    ('How long did the all-to-all of the recommender run?', [table(RANK, 'kernels', filter=['name~SendRecv'])], total('total_ns'),
     lambda: sum(ns for name, (_, ns) in kernels(RANK).items() if 'SendRecv' in name)),
    ('Which steps does the recommender have?', [('open', {'path': RANK})], lambda a: a['steps']['loaded'], lambda: steps(RANK)),
    ('How many copies did it make?', [table(RANK, 'kernels', filter=['category=copy'], columns=['count'])], total('count'),
     lambda: len(events(RANK, 'gpu_memcpy'))),
    ('How often did layer_norm of BERT run, and how long did its kernels run?', [('peek', {'file': BERT, 'name': 'aten::layer_norm'})],
     lambda a: (a['names'][0]['runs'], round(a['names'][0]['accelerator_micros'] * 1000)),
     lambda: (sum(e['name'] == 'aten::layer_norm' for e in events(BERT, 'cpu_op')), sum(t for n, (_, t) in kernels(BERT).items() if 'layer_norm' in n))),
    ('How much did ResNet allocate on the GPU?', [('memory', {'file': RESNET})],
     lambda a: [(m['allocations'], m['allocated_bytes']) for m in a['memory'] if m['device'] == 'gpu:0'], lambda: [allocations(RESNET)]),
    ('How long was the longest run of a kernel of SGLang?', [table(SGLANG, 'kernels', sort='-max_ns', limit=1)], first('max_ns'),
     lambda: (max(round(e['dur'] * 1000) for e in events(SGLANG, 'kernel')), )),
    ('How many sets ran in ResNet, if the name of the category is guessed?',
     [table(RESNET, 'kernels', filter=['category=memset']), table(RESNET, 'kernels', filter=['category=set'], columns=['count'])],
     lambda a, b: ('set' in a['values']['category'], total('count')(b)), lambda: (True, len(events(RESNET, 'memset')))),
    ('How long was gpu:1 busy?', [table(NSYS, 'devices', filter=['device=gpu:1'])], first('busy_ns'), lambda: (busy(1), )),
    ('How many different kernels ran in the normalisation trace?', [only_kernels(NORM, limit=1)], lambda a: a['total'], lambda: len(kernels(NORM))),
    ('How long did its most expensive kernel run?', [only_kernels(NORM, **TOP)], first('total_ns'), lambda: longest(NORM)[1:]),
    ('How long did all kernels of AlexNet run?', [only_kernels(ALEX, columns=['total_ns'])], total('total_ns'),
     lambda: sum(ns for _, ns in kernels(ALEX).values())),
    ('How often did the most expensive kernel of the compiled model run?', [only_kernels(TRITON, **TOP)], first('count', 'total_ns'),
     lambda: longest(TRITON)),
    ('How many kernels ran on gpu:0 of the server?', [table(NSYS, 'kernels', filter=['category=kernel', 'device=gpu:0'], columns=['count', 'total_ns'])],
     total('count'), lambda: query('SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE deviceId = 0').fetchone()[0]),
    ('How long did kernels run on gpu:1?', [table(NSYS, 'kernels', filter=['category=kernel', 'device=gpu:1'], columns=['total_ns'])],
     total('total_ns'), lambda: query('SELECT sum("end" - start) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE deviceId = 1').fetchone()[0]),
    ('How many copies went to the GPUs?', [table(NSYS, 'kernels', filter=['name~HtoD'], columns=['count'])], total('count'),
     lambda: query('SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = 1').fetchone()[0]),
    ('How long do the convolutions of the ONNX model take?', [table(ORT, 'op', filter=['path=QLinearConv_nhwc'])], first('own_accelerator_micros'),
     lambda: (ort_time('QLinearConv_nhwc'), )),
    ('How long do its matrix products take?', [table(ORT, 'op', filter=['path=Gemm'])], first('own_self_micros'), lambda: (ort_time('Gemm'), )),
    ('How many nodes does the graph with a loop have?', [('summary', {'file': LOOP})], lambda a: a['node_count'], lambda: count_in(LOOP, r'^node \{')),
    ('How many convolutions does the TensorFlow model have?', [table(MODEL, 'op', filter=['path=Conv2D'], options=['-select', 'occurrence'])],
     first('nodes'), lambda: (count_in(MODEL, r'^  op: "Conv2D"'), )),
]


def main():
    with Server(ARGS.program, '--allow', ARGS.realdata) as server:
        def ask(question, calls, answer_of, known):
            answers, made = [], 0
            for tool, arguments in calls:
                answer = server.call(tool, **arguments)
                made += 1
                while answer['truncated'] and 'rows' in answer and 'limit' not in arguments:  # as an agent would
                    page = server.call(answer['next']['tool'], **answer['next']['arguments'])
                    answer = dict(page, rows=answer['rows'] + page['rows'])
                    made += 1
                answers.append(answer)
            assert made <= CALLS_MOST, '%d calls' % made
            cases.equal(answer_of(*answers), known(), question)
        return cases.run([named(i, q, ask) for i, q in enumerate(QUESTIONS, 1)])


def named(i, question, ask):
    def case():
        ask(*question)
    case.__name__, case.__doc__ = 'question_%d' % i, question[0]
    return case


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--program', required=True, type=os.path.abspath)
    parser.add_argument('--realdata', required=True, type=os.path.abspath)
    ARGS = parser.parse_args()
    sys.exit(main())
