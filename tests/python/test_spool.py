# SPDX-License-Identifier: Apache-2.0
"""tfprof.Profile of recorded GPU work: files, folders, bytes, options."""
import os
import shutil
import tempfile
import unittest

import support

import tfprof
from tfprof import _native
from tfprof.profile import recording_words
from wire import num, sub

SPOOL = os.path.join(support.ROOT, 'testdata', 'small', 'train.tfspool')
LINEAR = 'forward/aten.linear'
KERNEL = LINEAR + '/ampere_sgemm_128x64_tn'


def nodes(profile):
    return {r['path']: r['own_occurrence'] for r in profile.records('scope', select='occurrence', max_depth=99)
            if r['own_occurrence']}


class Spools(unittest.TestCase):
    def test_a_file_and_its_bytes(self):
        with open(SPOOL, 'rb') as f:
            data = f.read()
        for source in (SPOOL, data):
            with tfprof.Profile(recording=source) as p:
                self.assertEqual(1, nodes(p)['ProfilerStep/' + KERNEL])
                self.assertIn('1 operation has no record of the call', tfprof.Profile(recording=source).notes)
                self.assertIn('/job:localhost/replica:0/task:0/device:gpu:0', p.devices)

    def test_options(self):
        with tfprof.Profile(recording=SPOOL, recording_options={'step_nvtx': 'pytorch', 'keep_warmup': False}) as p:
            self.assertEqual(1, nodes(p)[KERNEL])
            self.assertEqual([0], p.steps)
            self.assertEqual([{'kind': 'spool', 'path': SPOOL}], p.document('op')['sources'])
        with tfprof.Profile(recording=SPOOL, recording_options={'step_nvtx': 'pytorch', 'leaf': 'op'}) as p:
            self.assertEqual(1, nodes(p)[LINEAR])
            self.assertNotIn(KERNEL, nodes(p))
            again = tfprof.Profile(profile=p.to_bytes())
            self.assertEqual(nodes(p), nodes(again))
        with tfprof.Profile(spool=SPOOL, spool_options={'leaf': 'op'}) as p:  # the former names
            self.assertNotIn(KERNEL, nodes(p))
        self.assertEqual(['step-every=5', 'keep-warmup'],
                         recording_words({'step_every': 5, 'keep_warmup': True, 'tf_layout': False, 'job': None}))

    def test_a_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(tfprof.NotFoundError):
                tfprof.Profile(recording=folder)
            shutil.copy(SPOOL, folder)
            with open(os.path.join(folder, 'options'), 'w') as f:
                f.write('--step-nvtx=pytorch\n')
            with tfprof.Profile(recording=folder) as p:
                self.assertEqual(1, nodes(p)[KERNEL])

    def test_memory_ends_while_patterns_are_open(self):
        """Loads that fail, for memory or a pattern, do not affect later ones."""
        large = b''.join(sub(1, num(1, i) + sub(2, sub(1, 'node_%d' % i))) for i in range(100000))
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(SPOOL, folder)
            with open(os.path.join(folder, 'options'), 'w') as f:
                f.write('--step-nvtx=[A-Z]rofilerStep.*\n--step-kernel=(\n')
            for limit in (3000000, 6000000):
                session = _native.Session(1, limit, None)
                for _ in range(3):
                    with self.assertRaises(tfprof.InvalidArgumentError):
                        session.add(_native.RECORDING, folder)
                with self.assertRaises(tfprof.MemoryLimitError):
                    session.add(_native.PROFILE, large)
                session.close()

    def test_refusals(self):
        for options in ({'leaves': 'op'}, {'leaf': 'x'}, {'leaf': True}, {'step_nvtx': '('}):
            with self.assertRaises(tfprof.InvalidArgumentError):
                tfprof.Profile(recording=SPOOL, recording_options=options)
        with self.assertRaises(tfprof.NotFoundError):
            tfprof.Profile(recording=SPOOL, recording_options={'process': 5})
