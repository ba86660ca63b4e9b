#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the verdicts about real files with verdicts that a person wrote down after reading devices, idle, critical and kernels.

That these verdicts were written before why was run on the files cannot be shown: why is 7 hours older than this list, which was added
as a whole, and its rules for steps that are not whole were made while these files were at hand. One verdict is known to have been
changed after the answer of why was read; it is marked so. So the list finds changes of verdicts; it does not measure how often why is
right about new files.

Each command that the answers name must print rows.

    --program, --realdata  tfprof, and the folder of the files
"""
import argparse
import collections
import json
import os
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'check'))
import built  # noqa: E402

# says: the beginning of the first sentence; '': the name of its cause
Read = collections.namedtuple('Read', 'file cause reason says', defaults=[''])
FILES = [
    Read('kineto/alexnet.json.gz', 'host_work', '42 of 43.4 s are calls that start CUDA; cudaDeviceGetStreamPriorityRange alone takes 29.9 s',
         'Start-up: first calls take '),
    Read('kineto/cupti_profiler.json.gz', 'unknown', 'no device work is in the file'),
    Read('kineto/event_sync_multi_stream.json.gz', 'host_work', 'the thread is outside of all slices for 18.7 of 19.9 ms',
         'Host-bound, cause unknown: '),
    Read('kineto/h100_bert_small.json.gz', 'launch_bound', '60 kernels of 5 us in 4.4 ms, each after 70 us of ops and Python'),
    Read('kineto/mi250_toy_train.json.gz', 'host_work', 'one hipLaunchKernel in aten::add_ takes 6.5 of 9.2 ms, and the device waits',
         'Start-up: first calls take '),
    Read('kineto/mi300_normalization.json.gz', 'host_work', 'hipLaunchKernel takes 1.1 of 1.2 s: first launches load their modules',
         'Start-up: first calls take '),
    Read('kineto/resnet50_2021.pt.trace.json.gz', 'launch_bound', 'idle for 38 %: the host is late, in many short ops; 1,600 kernels in a step'),
    Read('kineto/resnet50_gpu.pt.trace.json.gz', 'input_pipeline', 'half of the idle time is in DataLoader.__next__, 69 ms of a step of 175 ms'),
    Read('kineto/sampled_rank-0.json.gz', 'host_work', 'path: ops of the optimizer and time outside of slices, 550 of 603 ms; no communication on it'),
    # First read as none. The file describes device 0 only; since device 2 is taken to be of the same model, its peaks are known.
    Read('kineto/torch_compile_triton.json.gz', 'one_kernel', '97 % compute, no gaps, few large kernels; attention reaches 23 % of the peak',
         'Compute-bound: devices compute for 97.0%'),
    Read('kineto/triton_example.json.gz', 'unknown', 'one kernel of 1.8 us at the begin of a step of 13.3 s, which compiles afterwards'),
    Read('kineto_graphs/sglang_prefilldecode/sglang_Qwen3-8B_prefilldecode.json.gz', 'unknown',
         'the device waits for 493 of 987 ms, and nothing in the file says for what'),
    Read('kineto_graphs/vllm_prefilldecode_piecewise/graph_execution.json.gz', 'none', 'busy for 99.8 % of the step, with products of the experts'),
    Read('nsys/h100_2gpu_1s.sqlite', 'host_copies', 'copies from the host take 921 of 969 ms, compute 22 ms'),
    # First read as unfused_elementwise; then changed to launch_bound after the answer of why was read, which did not shorten the calls
    # that waited for the kernels; then changed back when why did.
    Read('nsys/mfu_2gpu_before.sqlite', 'unfused_elementwise', 'compute for 255 of 300 ms, of which elementwise kernels take 80 ms',
         'Compute-bound: devices compute for 85'),
    # First read as unknown, because work goes on for 185 ms after the step; that work is 34 us of copies on another device.
    Read('xplane/gpu_bert_worker.xplane.pb', 'host_work', 'GPU 6 computes for 15 of the 21 ms of its step; the host is late for the rest',
         'Compute-bound: devices compute for 69.8%'),
    Read('onnxruntime/resnet_inference.json', 'cpu_fallback', '16 of 35 ms are nodes on the CPU provider, in sequence with those of the device',
         'CPU fallback: '),
    Read('xplane/jax08_gemm.xplane.pb', 'launch_bound', 'idle for 76 %: gaps of 113 us in Python and in the dispatch, between kernels of 64 us'),
    Read('xplane/jax_conv_minimal_legacy.xplane.pb', 'host_work', '3.6 ms of convolutions in 28 ms; the host copies and waits between',
         'Host-bound, cause unknown: '),
    # First read as unknown, because the copies had no kind; the layouts of the compiled program name memory of the host (memory space 5).
    Read('xplane/tpu_inference_2.xplane.pb', 'host_copies', '794 of 825 ms are copies of 5.4 GB each between host and device; 28 GB/s',
         'Copy-bound: copying between host and device lengthens the mean step of 889ms by 731ms'),
]


def commands_of(program, path):
    """Yields the commands that the answer names: of its evidence, and the next one."""
    text = subprocess.run([program, 'why', path, '-output', 'json'], capture_output=True, text=True).stdout
    for cause in json.loads(text)['causes']:
        yield from (e['command'] for e in cause['evidence'])
    text = subprocess.run([program, 'why', path], capture_output=True, text=True).stdout
    yield from (line[len('Next: '):] for line in text.split('\n') if line.startswith('Next: '))


def dead_ends(program, path):
    """Returns the named commands that fail, or print neither a verdict with its causes nor rows below a heading."""
    found = []
    for command in commands_of(program, path):
        p = subprocess.run([program] + shlex.split(command)[1:], capture_output=True, text=True)
        if p.returncode or len([line for line in p.stdout.split('\n') if any(c.isdigit() for c in line)]) < 2:
            found.append('%s: status %d: %s' % (command, p.returncode, p.stdout + p.stderr))
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--program', required=True, type=os.path.abspath)
    p.add_argument('--realdata', required=True)
    a = p.parse_args()
    passed = failed = skipped = 0
    for x in FILES:
        if x.file.endswith('.sqlite') and not built.has(a.program, 'sqlite'):
            skipped += 1
            continue
        answer = subprocess.run([a.program, 'why', os.path.join(a.realdata, x.file), '-output', 'json'], capture_output=True, text=True)
        found = json.loads(answer.stdout) if answer.returncode == 0 else {'cause': answer.stderr, 'verdict': ''}
        ends = dead_ends(a.program, os.path.join(a.realdata, x.file)) if answer.returncode == 0 else []
        if ends:
            print('\n'.join(ends))
        if found['cause'] == x.cause and found['verdict'].startswith(x.says) and not ends:
            passed += 1
            continue
        failed += 1
        print('%s: expected %s (%s), found %s: %s' % (x.file, x.cause, x.reason, found['cause'], found['verdict']))
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
