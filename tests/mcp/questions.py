# SPDX-License-Identifier: Apache-2.0
"""Questions about the traces of testdata, each with the calls that answer it, and the known answer. The answers come from the
descriptions in testdata (README.md of each folder) and from the text output of the commands, read by a person."""

TRAIN = 'traces/training.pt.trace.json.gz'
NSYS = 'traces/nsys.sqlite'
XPLANE = 'traces/trace.xplane.pb'
PERFETTO = 'traces/trace.pftrace'
ORT = 'traces/onnxruntime.json'
ROC = 'traces/rocprof_results.json'
CALLS = 'traces/calls.pt.trace.json'
TF = 'example/profile_100'
TF2 = 'example/profile_200'
SNAP = 'memory/snapshot.pickle'


def table(file, view, **more):
    return 'table', dict(more, file=file, view=view)


def summary(file):
    return 'summary', {'file': file}


def row(name, value):
    """Returns the row in which a column has a value."""
    return lambda answer: [r for r in answer['rows'] if r.get(name) == value][0]


# question, calls, function of their answers, answer
QUESTIONS = [
    ('Which profiles are in the folder traces?', [('open', {'path': 'traces'})],
     lambda a: len([p for p in a['profiles'] if p['format'] == 'JSON trace']), 2),
    ('What format is trace.pftrace?', [('open', {'path': PERFETTO})], lambda a: a['formats'], ['Perfetto trace by Perfetto v49.0']),
    ('Why are the training steps slow?', [summary(TRAIN)], lambda a: a['cause'], 'input_pipeline'),
    ('How much would a step save without that cause?', [summary(TRAIN)], lambda a: a['causes'][0]['saved_ns'], 7274892),
    ('Where does the training wait?', [summary(TRAIN)], lambda a: a['causes'][0]['where'][0]['name'],
     'enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__'),
    ('How long is the mean training step?', [summary(TRAIN)], lambda a: a['step_ns'], 10797821),
    ('How many steps does the training trace have?', [table(TRAIN, 'steps', limit=1)], lambda a: a['total'], 8),
    ('Which training step is the slowest, and how long is it?',
     [table(TRAIN, 'steps', sort='-duration_ns', limit=1, columns=['step', 'duration_ns'])],
     lambda a: (a['rows'][0]['step'], a['rows'][0]['duration_ns']), (11, 13063507)),
    ('Which training step is the fastest?', [table(TRAIN, 'steps', sort='duration_ns', limit=1)], lambda a: a['rows'][0]['step'], 10),
    ('Which kernel takes the most time?', [table(TRAIN, 'kernels', sort='-total_ns', limit=1)], lambda a: a['rows'][0]['name'],
     'ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn'),
    ('Which share of the kernel time is matrix products?', [table(TRAIN, 'kernels', filter=['name~gemm'])],
     lambda a: a['rows'][0]['share_percent'], 81.28),
    ('How many copies to the device are there?', [table(TRAIN, 'kernels', filter=['category=copy'])], lambda a: a['rows'][0]['count'], 8),
    ('How long is the GPU idle in the training trace?', [table(TRAIN, 'devices')], lambda a: a['rows'][0]['idle_ns'], 58474362),
    ('Is there exposed communication?', [table(TRAIN, 'devices')], lambda a: 'exposed_communication_ns' in a['all_zero'], True),
    ('What calls aten::addmm?', [('peek', {'file': TRAIN, 'name': 'aten::addmm'})], lambda a: a['callers'][0]['name'], 'aten::linear'),
    ('Which kernel does aten::clamp_min launch, how often per step?', [('peek', {'file': TRAIN, 'name': 'aten::clamp_min'})],
     lambda a: ('clamp_min_scalar' in a['kernels'][0]['name'], a['kernels'][0]['runs']), (True, 12)),
    ('How long is a step if data loading took no time?', [('what_if', {'file': TRAIN, 'changes': ['cause:input_pipeline']})],
     lambda a: a['after_ns'], 3959300),
    ('Does it help to remove the synchronisation?', [('what_if', {'file': TRAIN, 'changes': ['sync=0']})],
     lambda a: a['before_ns'] - a['after_ns'], 0),
    ('How far from the peak is aten::addmm, and what limits it?', [table(TRAIN, 'roofline', filter=['type=aten::addmm'])],
     lambda a: (a['rows'][0]['roof_percent'], a['rows'][0]['bound']), (52.25, 'compute')),
    ('What limits aten::clamp_min?', [table(TRAIN, 'roofline', filter=['type=aten::clamp_min'])], lambda a: a['rows'][0]['bound'], 'memory'),
    ('What is the largest part of the critical path?', [table(TRAIN, 'critical', sort='-duration_ns', limit=1)],
     lambda a: a['rows'][0]['kind'], 'data_loading'),
    ('Which setting was missing when the training was profiled?', [('open', {'path': TRAIN})], lambda a: a['missing'][0]['how'],
     'with_stack=True'),
    ('Which GPUs are in the Nsight Systems export?', [table(NSYS, 'devices', columns=['device'])],
     lambda a: sorted(r['device'] for r in a['rows']), ['gpu:0', 'gpu:1']),
    ('Why is the Nsight Systems trace slow?', [summary(NSYS)], lambda a: a['cause'], 'launch_bound'),
    ('How long is gpu:1 busy in it?', [table(NSYS, 'devices')], lambda a: row('device', 'gpu:1')(a)['busy_ns'], 600),
    ('Which steps are in the XSpace?', [('open', {'path': XPLANE})], lambda a: a['steps']['loaded'], [3, 4]),
    ('Which op takes the most device time in the XSpace?', [table(XPLANE, 'op', limit=1)], lambda a: a['rows'][0]['path'], 'MatMul'),
    ('How long are the copies that no compute hides, per step of the XSpace?', [summary(XPLANE)],
     lambda a: a['devices'][0]['step']['exposed_copy_ns'], 150),
    ('How often does gemm run in the Perfetto trace?', [table(PERFETTO, 'kernels', filter=['name~gemm'])],
     lambda a: sum(r['count'] for r in a['rows']), 4),
    ('Which node of the ONNX Runtime profile is the most expensive?',
     [table(ORT, 'scope', sort='-own_self_micros', limit=1)], lambda a: a['rows'][0]['path'], 'net/conv'),
    ('Does the ONNX Runtime profile have device work?', [('open', {'path': ORT})], lambda a: a['devices'], []),
    ('Which kernel is the longest in the ROCm trace?', [table(ROC, 'kernels', sort='-total_ns', limit=1)],
     lambda a: ('relu' in a['rows'][0]['name'], a['rows'][0]['total_ns']), (True, 1500)),
    ('How many times does aten::linear run in calls.pt.trace.json?', [table(CALLS, 'op', filter=['path=aten::linear'])],
     lambda a: a['rows'][0]['total_occurrence'], 2),
    ('How many parameters does the example model have?', [summary(TF)], lambda a: a['parameters'], 2193226),
    ('Which op type takes the most time in the example?', [table(TF, 'op', limit=1, filter=['path!=_TFProfRoot'])],
     lambda a: (a['rows'][0]['path'], a['rows'][0]['total_micros']), ('DecodeJpeg', 9411)),
    ('Which line of the example\'s code is the most expensive below main?', [table(TF, 'code', filter=['path~dataset'], limit=1)],
     lambda a: 'dataset.py:13' in a['rows'][0]['path'], True),
    ('Which step of the example is the slowest?', [summary(TF)], lambda a: a['steps']['slowest'], 2),
    ('What became faster from profile_100 to profile_200?', [('compare', {'before': TF, 'after': TF2})],
     lambda a: min((r for r in a['rows'] if r['depth']), key=lambda r: r['difference_micros'])['path'], 'DecodeJpeg'),
    ('What is the memory peak in the snapshot?', [('memory', {'file': SNAP})], lambda a: a['memory'][0]['peak_bytes'], 77058336),
    ('Which line holds the most memory at the peak, and what kind is it?', [('memory', {'file': SNAP})],
     lambda a: (a['live'][0]['line'], a['live'][0]['kind']), ('/home/me/train.py:22 main', 'optimizer state')),
]
