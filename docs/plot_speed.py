#!/usr/bin/env python3
"""Draws docs/pictures/speed.svg from the table of docs/benchmarks.md. Needs matplotlib.

usage: docs/plot_speed.py
"""
import pathlib

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

DOCS = pathlib.Path(__file__).parent
SHOWN = {  # title in the table: label in the chart
    "two-pass blur, uint16 (16)": "blur",
    "unsharp mask, four stages (1.1)": "unsharp mask",
    "Harris corners, gray (2.1)": "Harris corners",
    "bilateral grid, scatter (3.1)": "bilateral grid",
    "multiscale interpolation, repeated edges (4.2)": "interpolation",
    "local Laplacian, repeated edges (6, Halide)": "local Laplacian",
    "camera pipeline, sharpened (5, Halide)": "camera pipeline",
    "max filter, radius 26 (17)": "max filter",
    "non-local means (18)": "non-local means",
    "3x3 convolution of 128 channels, ReLU (20)": "convolution layer",
    "PolyBench 2mm, EXTRALARGE (11)": "2mm",
}


def number(cell):
    try:
        return float(cell.strip("*").split()[0])
    except (ValueError, IndexError):
        return None


def tables():
    """The rows of the two tables of results by their titles: beside the peers, and hand against auto."""
    lines = [l for l in (DOCS / "benchmarks.md").read_text().splitlines() if l.startswith("|")]
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in lines]
    shown = [row for row in cells if row[0] in SHOWN]
    return {r[0]: r for r in shown if len(r) > 5}, {r[0]: r for r in shown if len(r) == 5}


def main():
    peers, own = tables()
    missing = SHOWN.keys() - (peers.keys() & own.keys())
    if missing:
        raise SystemExit(f"not in docs/benchmarks.md: {', '.join(sorted(missing))}")

    def hand(title):  # relative to Halide with the same schedule
        return number(peers[title][2]) / number(peers[title][4])

    def halide_auto(title):
        return min(filter(None, map(number, peers[title][5:8]))) / number(peers[title][4])

    series = [  # label, value, marker, color
        ("Halide, best autoscheduler", halide_auto, "s", "#999999"),
        ("Pipe, autoschedule()", lambda t: hand(t) * number(own[t][4]), "D", "#d9822b"),
        ("Pipe, hand schedule", hand, "o", "#1f5fa8"),
    ]
    figure, axes = plt.subplots(figsize=(8, 4.2))
    for label, value, marker, color in series:
        axes.plot([value(t) for t in SHOWN], range(len(SHOWN)), marker, color=color, label=label, markersize=7)
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xscale("log")
    ticks = [0.5, 1, 2, 4, 8]
    axes.set_xlim(0.45, 10)
    axes.set_xticks(ticks, [f"{t:g}×" for t in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(SHOWN)), SHOWN.values())
    axes.invert_yaxis()
    axes.grid(axis="x", color="#dddddd")
    axes.set_axisbelow(True)
    axes.set_xlabel("time relative to Halide with the same hand schedule (left of 1× is faster)")
    axes.legend(loc="lower center", bbox_to_anchor=(0.45, 1), ncol=3, frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    plt.rcParams["svg.hashsalt"] = "pipe"
    figure.savefig(DOCS / "pictures" / "speed.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
