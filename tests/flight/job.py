# SPDX-License-Identifier: Apache-2.0
"""Makes the dumps of a job's ranks, in the layout that FlightRecorder.hpp of PyTorch 2.15 gives the dumps of NCCL.

    job = Job(4)
    job.call('all_reduce', [[8]])                       all ranks of the default group
    job.call('all_reduce', [[8]], ranks=[0, 1, 3])      rank 2 does not arrive, so the others do not end
    dumps = job.dumps()                                 rank -> dict, for pickle.dumps or json.dumps
"""
START = 1_790_000_000_000_000_000


class Job:
    def __init__(self, world, **groups):
        """groups: {name of a group: its ranks}, in addition to the default group '0'."""
        self.groups = {'0': list(range(world)), **groups}
        self.entries = {r: [] for r in range(world)}
        self.seq = {(g, r): 0 for g in self.groups for r in range(world)}
        self.now = START
        self.records = {r: 0 for r in range(world)}

    def describe(self, group):
        return 'default_pg' if group == '0' else 'undefined'

    def add(self, rank, group, name, sizes, outputs, types, state, p2p=False, retired=None):
        started = self.now + 1000 if state != 'scheduled' else None
        self.entries[rank].append({
            'frames': [{'name': 'wrapper', 'filename': '/opt/lib/python3.11/site-packages/torch/distributed/c10d_logger.py', 'line': 83},
                       {'name': 'step', 'filename': '/home/me/train.py', 'line': 10 + len(name)}],
            'record_id': self.records[rank], 'pg_id': list(self.groups).index(group), 'process_group': (group, self.describe(group)),
            'thread_name': 'python', 'thread_id': '1', 'collective_seq_id': self.seq[group, rank], 'p2p_seq_id': 0, 'op_id': self.records[rank] + 1,
            'profiling_name': 'nccl:' + name, 'time_created_ns': self.now + rank, 'duration_ms': 0.5, 'input_sizes': sizes,
            'input_dtypes': types, 'output_sizes': outputs, 'output_dtypes': types, 'state': state, 'time_discovered_started_ns': started,
            'time_discovered_completed_ns': self.now + 500_000 if state == 'completed' else None,
            'retired': state == 'completed' if retired is None else retired, 'timeout_ms': 600000, 'is_p2p': p2p})
        self.records[rank] += 1

    def call(self, op, sizes, group='0', ranks=None, state=None, outputs=None, types=('Float',), by_rank={}, retired=None):
        """A collective. by_rank: {rank: its different arguments}. Without a state, the collective completes if all ranks pass
        equal arguments."""
        members = self.groups[group]
        callers = members if ranks is None else ranks
        state = state or ('completed' if set(callers) == set(members) and not by_rank else 'started')
        self.now += 1_000_000
        for r in callers:
            mine = dict({'op': op, 'sizes': sizes, 'outputs': outputs, 'types': list(types)}, **by_rank.get(r, {}))
            self.seq[group, r] += 1
            self.add(r, group, mine['op'], mine['sizes'], mine['outputs'] or mine['sizes'], mine['types'], state, retired=retired)

    def coalesced(self, sizes, group='0', by_rank={}):
        """Adds an all_reduce for each of the sizes, as one coalesced collective."""
        self.now += 1_000_000
        for r in self.groups[group]:
            self.seq[group, r] += 1
            for size in by_rank.get(r, sizes):
                self.add(r, group, 'all_reduce', [size], [size], ['Float'], 'completed')

    def p2p(self, rank, name, sizes, state='started', group='0'):
        self.now += 1_000_000
        self.add(rank, group, name, sizes, sizes, ['Float'], state, p2p=True)

    def forget(self, rank, n):
        """Drops the first n entries, as if newer entries had replaced them in the recorder."""
        del self.entries[rank][:n]

    def dumps(self):
        return {r: {'version': '2.10',
                    'pg_config': {g: {'name': g, 'desc': self.describe(g), 'ranks': str(ranks)} for g, ranks in self.groups.items() if r in ranks},
                    'comm_lib_version': '2.27.5',
                    'pg_status': {str(i): {'last_enqueued_collective': self.seq[g, r], 'last_started_collective': self.seq[g, r],
                                           'last_completed_collective': self.seq[g, r]} for i, g in enumerate(self.groups)},
                    'entries': self.entries[r]} for r in self.entries}
