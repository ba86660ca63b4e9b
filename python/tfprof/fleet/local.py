# SPDX-License-Identifier: Apache-2.0
"""Runs the tasks of a build on one machine with worker processes. If a worker process dies, the pool starts another one
and retries the task file by file. The files that the dead process wrote are not committed."""
import multiprocessing
import multiprocessing.connection
import os
import signal
from typing import Any, Callable, Dict, List, Optional

from .inputs import Stat, local_stat
from .plan import Item
from .rows import FileRow, key
from .store import new_part
from .tasks import Job, Result, Task

ATTEMPTS = 3  # for a file whose worker process dies
Finish = Callable[[Task, Result], List[Task]]


class _Order:
    """A task of the build, and its files that still have to be read one by one after a worker process has died."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.left = 1
        self.result = Result([], [])


class _Try:
    """A task, or a single file of a task."""

    def __init__(self, order: _Order, task: Task) -> None:
        self.order, self.task, self.deaths = order, task, 0


def _serve(pipe: Any, job: Job) -> None:
    from .extract import run_task
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(run_task(task, job))
        except OSError as e:  # of the output
            pipe.send(OSError(str(e)))


class _Worker:
    def __init__(self, context: Any, job: Job) -> None:
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, job), daemon=True)
        self.process.start()
        theirs.close()
        self.now: Optional[_Try] = None

    def give(self, now: _Try) -> None:
        self.now = now
        self.pipe.send(now.task)

    def end(self) -> None:
        self.pipe.close()
        self.process.join()


def _dead(task: Task, job: Job, status: Any) -> Result:
    """Returns the rows of files whose worker process has died ATTEMPTS times."""
    why = 'its worker process ended %d times, at last with status %s' % (ATTEMPTS, status)
    return Result([_refused(x, task, job, why) for x in task.workers[0]], [])


def _refused(x: Item, task: Task, job: Job, why: str) -> FileRow:
    try:
        state = task.states.get(x.path) or local_stat(x.path)
    except (OSError, ValueError):
        state = Stat(0, 0, '')
    return FileRow(key(x.path), x.run, x.host, task.workers[0][0].worker, *state, None, None, 'refused', 'WORKER_DIED', why, None,
                   None, None, None, None, None, '', job.built)


class _Queue:
    """The worker processes and the tasks that are left."""

    def __init__(self, tasks: List[Task], processes: int, job: Job, finish: Finish) -> None:
        self._context = multiprocessing.get_context('spawn')
        self._job, self._finish, self._processes = job, finish, processes
        self._left: List[_Try] = []
        self._busy: Dict[Any, _Worker] = {}
        self._add(tasks)

    def _add(self, tasks: List[Task]) -> None:
        self._left[:0] = [_Try(_Order(t), t) for t in reversed(tasks)]

    def _start(self) -> None:
        """Starts worker processes while tasks are left."""
        while self._left and len(self._busy) < self._processes:
            self._next(_Worker(self._context, self._job))

    def _next(self, w: _Worker) -> None:
        """Sends a worker its next task, or stops it."""
        if not self._left:
            w.end()
            return
        self._busy[w.pipe] = w
        try:
            w.give(self._left.pop())
        except OSError:
            pass  # the worker has died: run() reads the end of its pipe

    def _died(self, w: _Worker, now: _Try) -> None:
        """Queues the files of a dead worker's task one by one. A file fails after ATTEMPTS deaths."""
        w.pipe.close()
        w.process.join()
        task, now.deaths = now.task, now.deaths + 1
        if len(task.workers) > 1:
            now.order.left += len(task.workers) - 1
            self._left += [_Try(now.order, task._replace(part=new_part(), workers=[x])) for x in task.workers]
        elif now.deaths < ATTEMPTS:
            now.task = task._replace(part=new_part())
            self._left.append(now)
        else:
            self._done(now, _dead(task, self._job, w.process.exitcode))

    def _done(self, now: _Try, result: Result) -> None:
        order = now.order
        order.left -= 1
        order.result.rows.extend(result.rows)
        order.result.written.extend(result.written)
        if not order.left:
            self._add(self._finish(order.task, order.result))

    def run(self) -> None:
        self._start()
        while self._busy:
            for pipe in multiprocessing.connection.wait(list(self._busy)):
                w = self._busy.pop(pipe)
                assert w.now is not None
                try:
                    result = w.pipe.recv()
                except (EOFError, OSError):
                    self._died(w, w.now)
                else:
                    if isinstance(result, OSError):
                        w.end()
                        raise result
                    self._done(w.now, result)
                    self._next(w)
            self._start()

    def close(self) -> None:
        for w in self._busy.values():
            w.process.terminate()
            w.end()
        self._busy = {}


class Pool:
    """Runs tasks in worker processes. processes: their number; 0: one per CPU."""

    def __init__(self, processes: int = 0) -> None:
        self._processes = processes or os.cpu_count() or 1

    def parallel(self) -> int:
        return self._processes

    def run(self, tasks: List[Task], job: Job, finish: Finish) -> None:
        queue = _Queue(tasks, self._processes, job, finish)
        try:
            queue.run()
        finally:
            queue.close()


class Here:
    """Runs tasks in this process, for file systems that other processes do not see (memory://)."""

    def parallel(self) -> int:
        return 1

    def run(self, tasks: List[Task], job: Job, finish: Finish) -> None:
        from .extract import run_task
        left = list(tasks)
        while left:
            task = left.pop(0)
            left += finish(task, run_task(task, job))
