"""Reads what the example `render` wrote with libraries that share no code with Pippin, and compares it with the JSON.

    cargo run -p pippin-report --example render -- FOLDER
    pip install hdrhistogram prometheus_client
    python3 read_formats.py FOLDER
"""
import json
import sys
from pathlib import Path

from hdrh.histogram import HdrHistogram
from prometheus_client.parser import text_string_to_metric_families

# Pippin's bounds: 100 ns to 1 h, 3 digits.
LOWEST, HIGHEST, DIGITS = 100, 3_600_000_000_000, 3


def read_log(path):
    """Every histogram by its tag, read line by line as the format has them."""
    found = {}
    for line in path.read_text().splitlines():
        if line.startswith("#") or line.startswith('"'):
            continue
        tag, _start, _length, _maximum, encoded = line.split(",")
        found[tag.removeprefix("Tag=")] = HdrHistogram.decode(encoded)
    return found


def check_log(folder, name):
    view = json.loads((folder / f"{name}.json").read_text())
    log = read_log(folder / f"{name}.hlog")
    compared = 0
    for row in view["rows"]:
        for span, summary in row["spans"].items():
            merged = HdrHistogram(LOWEST, HIGHEST, DIGITS)
            step = "-" if row["at"] is None else (f"{row['at']['count']}-connections" if row["at"]["of"] == "connections" else f"{row['at']['per_s']:g}-per-s")
            for repetition in range(1, 10):
                one = log.get(f"{row['target']}/{step}/{repetition}/{span}")
                if one is not None:
                    merged.add(one)
            assert merged.total_count == summary["count"], (row["target"], span, merged.total_count, summary["count"])
            if summary["count"] == 0:
                continue
            # Of few samples the Python library takes another neighbour (it rounds the rank, others take the next higher one).
            quantiles = [("p50_ns", 50), ("p90_ns", 90), ("p99_ns", 99)] if summary["count"] >= 10_000 else []
            for key, percentile in [*quantiles, ("max_ns", 100)]:
                got = merged.get_value_at_percentile(percentile)
                assert abs(got / summary[key] - 1) < 0.002, (row["target"], span, key, got, summary[key])
                compared += 1
    print(f"{name}.hlog: {len(log)} histograms read, {compared} quantiles equal to the JSON's within 0.2 %")


def check_metrics(folder, name):
    view = json.loads((folder / f"{name}.json").read_text())
    families = list(text_string_to_metric_families((folder / f"{name}.prom").read_text()))
    goodput = next(family for family in families if family.name == "pippin_goodput_per_second")
    read = {sample.labels["target"]: sample.value for sample in goodput.samples}
    wanted = {row["target"]: row["goodput_per_s"]["median"] for row in view["rows"] if row["goodput_per_s"]}
    assert read == wanted, (read, wanted)
    print(f"{name}.prom: {len(families)} families, {sum(len(f.samples) for f in families)} samples; goodput equal to the JSON's")


if __name__ == "__main__":
    where = Path(sys.argv[1])
    for run in ["hello", "sweep", "devices", "capacity"]:
        check_log(where, run)
        check_metrics(where, run)
