# SPDX-License-Identifier: Apache-2.0
"""A program as users write it, which typing_run.py checks with mypy --strict and pyright, and runs."""
import io
import pathlib
from typing import Any, Dict, List, Optional

import pandas

import tfprof

TRACE = pathlib.Path('testdata/traces/training.pt.trace.json.gz')


def hottest(profile: tfprof.Profile) -> List[str]:
    names: List[str] = []
    for depth, row in profile.scope(order_by='micros', select=['micros', 'kernels'], min_micros='1us').walk():
        if depth and row.total.micros > 0 and row.total.kernels:
            names.append(row.name)
    return names


def slowest_kernel(profile: tfprof.Profile) -> Optional[Dict[str, Any]]:
    kernels: tfprof.Result = profile.kernels(top=1)
    return kernels[0] if kernels else None


def frame(profile: tfprof.Profile) -> pandas.DataFrame:
    return profile.kernels().to_pandas()


def main() -> None:
    with tfprof.open(TRACE, threads=1) as profile, tfprof.open([io.BytesIO(TRACE.read_bytes())]) as again:
        numbers: List[int] = profile.steps
        places: List[str] = profile.devices
        rows: List[Dict[str, Any]] = profile.records('kernels', top=2)
        what = profile.what_if('host*0.5', step=numbers[0])
        answers = [profile.why(as_='ranks'), profile.idle(by='op'), profile.steps(), profile.devices(table='idle'), what]
        difference = profile.diff(again, 'op', steps=(numbers[1], 'slowest'), gate='total.micros<+5%')
        columns: List[str] = list(profile.table('kernels').to_pandas().columns)
        print(hottest(profile), slowest_kernel(profile), frame(profile).shape, places, rows, columns, difference['gates'])
        print([len(a) for a in answers], profile.summary()['verdict'])
    try:
        tfprof.open('no such file')
    except FileNotFoundError as e:
        print(e.filename)
    except tfprof.Error as e:
        print(e.file, e.offset)


main()
