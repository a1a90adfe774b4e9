#!/usr/bin/env python3
"""Writes the key figures of tests/links/v1.txt anew, after a change that was meant: say in CHANGELOG.md which and why.

python3 tools/pin_links.py [build/native/vram-ledger]
"""
import json
import pathlib
import subprocess
import sys

FILE = pathlib.Path(__file__).parent.parent / "tests/links/v1.txt"
program = sys.argv[1] if len(sys.argv) > 1 else "build/native/vram-ledger"


def figures(share):
    out = subprocess.run([program, "estimate", share, "--format", "json"], capture_output=True, text=True).stdout
    report = json.loads(out)
    training, serving, compute = (report.get(part, {}) for part in ("training", "serving", "compute"))
    values = [report.get("model", {}).get("parameters"), training.get("device_bytes"), compute.get("step_flops"),
              serving.get("device_bytes"), serving.get("kv_bytes_per_request")]
    return "\t".join("-" if value is None else f"{value:.0f}" for value in values)


lines = []
for line in FILE.read_text().splitlines():
    comment = not line or line.startswith("#")
    lines.append(line if comment else line.split("\t")[0] + "\t" + figures(line.split("\t")[0]))
FILE.write_text("\n".join(lines) + "\n")
