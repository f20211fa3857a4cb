#!/usr/bin/env python3
"""Measures the response functions of the laws that losses or marks drive, and draws them beside the published ones.

    python3 bench/response.py PENSTOCK [measure] [draw]

`measure` runs scenarios/validation-loss.toml once for each point and writes docs/validation/response.csv: the point, and the
settings of its run as they stand behind `--set`. It takes minutes. `draw` makes docs/images/response-*.svg out of that table, and
takes colours from the command. Without either word it does both.
"""

import csv
import html
import json
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCENARIO = "scenarios/validation-loss.toml"
TABLE = ROOT / "docs" / "validation" / "response.csv"
IMAGES = ROOT / "docs" / "images"
COLUMNS = ["figure", "law", "signals", "p", "packets_per_round_trip", "rtt_s", "settings"]

FLOWS = 8
RTT_S = 0.1
# Without the queue, where an AQM marks or drops.
QUEUED_RTT_S = 0.04
EVEN = [1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5]
RANDOM = [1e-2, 1e-3, 1e-4, 1e-5]
# Losses of a run, all flows together: the mean over even ones needs few, that over independent ones is within some 2 %.
LOSSES = {"even": 400, "random": 3200}
LEAST_S, SETTLE_S = 50.0, 50.0
# PI2 marks at most one in four, which DCTCP reaches at 10 Mbit/s [Mbit/s].
RATES = {"marks": [20, 40, 80, 160, 320, 640], "westwood": [10, 20, 40, 80, 160]}


# --- Published functions ---------------------------------------------------------------------------------------------
# Packets a round trip at a probability p of a loss or a mark.


def newreno(p):
    return math.sqrt(1.5 / p)


def cubic(p):
    return max(newreno(p), (0.4 * 3.7 / 1.2) ** 0.25 * (RTT_S / p) ** 0.75)


def highspeed(p):
    return max(newreno(p), 0.12 / p**0.835)


def scalable(p):
    return max(newreno(p), 0.08 / p)


def illinois(p):
    """With alpha at its most, 10, and beta at its least, 1/8, which is without a queue."""
    return math.sqrt(10 * (1 - 1 / 16) / (p / 8))


def two_marks(p):
    return 2 / p


def by_chance(p):
    """Marks of a constant probability leave some round trips without one: M of them have M (1 - exp(-M)) = 2 (1 - p)."""
    marks = 2.0
    for _ in range(60):
        marks = 2 * (1 - p) / (1 - math.exp(-marks))
    return marks / p


def of_reductions(p):
    """A round begins with the mark that begins a reduction: 1 + 1/M round trips from one to the next, so M = 2 (1 - p) (1 + 1/M)."""
    return (1 - p + math.sqrt((1 - p) ** 2 + 2 * (1 - p))) / p


def leadlag(p):
    """A rate K / q, where the price q has p = 1 - phi^-q; packets in 40 ms."""
    return 50 * QUEUED_RTT_S * math.log(1000) / -math.log1p(-p)


def westwood(p):
    """Times sqrt(R / (R - R_min)), which the axis takes off."""
    return math.sqrt((1 - p) / p)


# Figure, law, its function, and the source as the legend has it.
CURVES = [
    ("losses", "newreno", newreno, "sqrt(1.5/p), RFC 5681"),
    ("losses", "cubic", cubic, "RFC 9438, section 5.1"),
    ("losses", "highspeed", highspeed, "0.12/p^0.835, RFC 3649"),
    ("losses", "scalable", scalable, "0.08/p, Kelly 2003"),
    ("losses", "illinois", illinois, "sqrt(75/p), Liu et al. 2008"),
    ("marks", "dctcp", two_marks, "2/p, RFC 8257"),
    ("marks", "prague", two_marks, "2/p, draft-briscoe-iccrg-prague-04"),
    ("marks", "leadlag", leadlag, "K R/q, Paganini et al."),
    ("westwood", "westwood", westwood, "sqrt((1-p)/p), Grieco and Mascolo 2004"),
]
# Of the same laws, where the source leaves something out: figure, the law whose colour it has, function, words of the legend.
DASHED = [
    ("marks", "prague", by_chance, "prague: some round trips have no mark"),
    ("marks", "dctcp", of_reductions, "dctcp: a mark begins the next reduction"),
]
AQM = 'links.bottleneck.aqm={ law = "pi2", ecn = true }'
SENDERS = {
    "dctcp": ['flows.ftp.sender={ profile = "linux", ecn_echo = "accurate" }', AQM],
    "prague": ['flows.ftp.sender={ profile = "linux", ecn_echo = "accurate" }', AQM],
    "leadlag": ['flows.ftp.sender={ ecn_echo = "per-packet" }', 'links.bottleneck.aqm={ law = "price" }'],
    "westwood": ['flows.ftp.sender={ profile = "linux" }', 'links.bottleneck.aqm={ law = "pi2" }'],
}


# --- Runs ------------------------------------------------------------------------------------------------------------


def times(settle_s, measured_s):
    end = f"{settle_s + measured_s:.0f} s"
    return [f'duration="{end}"', f'warmup="{settle_s:.0f} s"', f'windows.all=["0 s","{end}"]', 'sample="10 s"']


def lossy(law, function, spacing, p):
    """Flows that never fill the line, and begin where the function says they will be."""
    expected = function(p)
    packets_a_round = FLOWS * expected
    # Independent losses at 1e-5 are a quarter as many: each takes 100,000 packets.
    losses = LOSSES[spacing] / (4 if spacing == "random" and p < 5e-5 else 1)
    settle_s = max(SETTLE_S, losses / 8 / p / packets_a_round * RTT_S)
    measured_s = max(LEAST_S, losses / p / packets_a_round * RTT_S)
    settings = [f'flows.ftp.cc={{ law = "{law}" }}', f"flows.ftp.sender={{ ssthresh = {max(2, round(expected))} }}"]
    settings += [f"flows.ftp.count={FLOWS}", 'links.bottleneck.rate="1 Tbit/s"', f"links.bottleneck.loss={p:g}"]
    settings += [f'links.bottleneck.loss_spacing="{spacing}"', *times(settle_s, measured_s)]
    if law == "illinois":
        # The largest delay is that of the first two seconds, so that later the queue counts as empty.
        settings += ['links.bottleneck.delay=[["0 s", "100 ms"], ["2 s", "50 ms"]]', 'flows.ftp.rtt="150 ms"']
    return settings


def queued(figure, law, rate):
    count = 20 if figure == "marks" else 10
    start = ', fill = "start"' if law == "westwood" else ""
    settings = [f'flows.ftp.cc={{ law = "{law}"{start} }}', *SENDERS[law], f"flows.ftp.count={count}"]
    settings += [f'links.bottleneck.rate="{rate} Mbit/s"', 'links.bottleneck.delay="5 ms"', "links.bottleneck.loss=0"]
    return settings + [f'flows.ftp.rtt="{QUEUED_RTT_S * 1e3:.0f} ms"', *times(40.0, 80.0)]


def run(penstock, settings):
    with tempfile.TemporaryDirectory() as out:
        words = [penstock, "run", SCENARIO, "--json", "--quiet", "--out", out]
        words += [word for setting in settings for word in ("--set", setting)]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)}\n{done.stderr}")
        return json.loads(done.stdout)["runs"][0]["summary"]


def point(penstock, figure, law, signals, settings):
    found = run(penstock, settings)
    group = found["groups"]["ftp"]
    p = group["mark_rate"] if figure == "marks" else group["loss_rate"]
    rtt_s = group["rtt_mean_s"]
    # The rate of leadlag does not depend on its round trip, and its function has one of 40 ms.
    each_s = QUEUED_RTT_S if law == "leadlag" else rtt_s
    window = group["throughput_packets_per_s"] / group["count"] * each_s
    row = [figure, law, signals, f"{p:.5g}", f"{window:.5g}", f"{rtt_s:.5g}", "; ".join(settings)]
    print(",".join(row[:-1]), flush=True)
    return row


def measure(penstock):
    rows = []
    for figure, law, function, _ in CURVES:
        if figure == "losses":
            # Below 1 % the smallest windows are those of NewReno, and timeouts. Illinois is NewReno below 15 packets.
            for spacing, rates in [("even", EVEN), ("random", RANDOM)]:
                for p in rates:
                    rows.append(point(penstock, figure, law, spacing, lossy(law, function, spacing, p)))
        else:
            for rate in RATES[figure]:
                rows.append(point(penstock, figure, law, "aqm", queued(figure, law, rate)))
    with TABLE.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)


# --- Drawing ---------------------------------------------------------------------------------------------------------

WIDTH, LEFT, RIGHT, PLOT, BELOW = 480, 62, 14, 300, 56
INK, PALE, GRID = "#1A1A1A", "#555555", "#E3E6E8"
LOSS, MARK = "loss probability p [losses per packet]", "marking probability p [marks per packet]"
WINDOW = "mean window [packets per round trip]"
SHORT = "mean window × sqrt((R - R_min)/R) [packets]"
# Title, words of both axes, and their ranges.
FIGURES = {
    "losses": ("Response functions under losses", LOSS, WINDOW, (1e-5, 1e-2), (10, 1e4)),
    "marks": ("Response functions under marks", MARK, WINDOW, (1e-2, 1), (1, 300)),
    "westwood": ("Response function of Westwood+", LOSS, SHORT, (1e-4, 1e-1), (1, 100)),
}
SIGNALS = {
    "losses": [("even", "measured, even losses"), ("random", "measured, independent losses")],
    "marks": [("aqm", "measured, marks of an AQM")],
    "westwood": [("aqm", "measured, losses of PI2")],
}


def text(x, y, words, size=13, fill=INK, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-family="sans-serif" font-size="{size}" fill="{fill}"{more}>{words}</text>'


def power(n):
    small = {-5: "10⁻⁵", -4: "10⁻⁴", -3: "10⁻³", -2: "0.01", -1: "0.1"}
    return small.get(n, f"{10**n:,}".replace(",", " "))


def mark(signals, x, y, colour):
    """Filled for even losses and AQMs, open for independent losses."""
    fill = "#FFFFFF" if signals == "random" else colour
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{fill}" stroke="{colour}" stroke-width="1.6"/>'


def picture(figure, rows, colours):
    title, x_words, y_words, (x_least, x_most), (y_least, y_most) = FIGURES[figure]
    curves = [curve for curve in CURVES if curve[0] == figure]
    lines = [(law, function, f"{law}: {source}", "") for _, law, function, source in curves]
    lines += [(law, function, words, ' stroke-dasharray="5 4"') for name, law, function, words in DASHED if name == figure]
    legend = 22 * (len(lines) + len(SIGNALS[figure]))
    top = 40 + legend
    height = top + PLOT + BELOW
    right = WIDTH - RIGHT

    def x_at(p):
        return LEFT + (right - LEFT) * math.log(p / x_least) / math.log(x_most / x_least)

    def y_at(w):
        return top + PLOT * (1 - math.log(w / y_least) / math.log(y_most / y_least))

    names = ", ".join(law for _, law, *_ in curves)
    said = f"{y_words} over {x_words}, both logarithmic. Lines: published functions of {names}. Dots: runs."
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{title}</title>",
        f"<desc>{html.escape(said)}</desc>",
        f'<rect width="{WIDTH}" height="{height}" fill="#FFFFFF"/>',
        text(12, 22, title, 15, more=' font-weight="bold"'),
    ]
    y = 46
    for law, _, words, dash in lines:
        out.append(f'<line x1="12" y1="{y - 4}" x2="34" y2="{y - 4}" stroke="{colours[law]}" stroke-width="2"{dash}/>')
        out.append(text(42, y, html.escape(words)))
        y += 22
    for signals, words in SIGNALS[figure]:
        out += [mark(signals, 23, y - 4, PALE), text(42, y, words)]
        y += 22

    for n in range(math.floor(math.log10(x_least)), math.ceil(math.log10(x_most)) + 1):
        x = x_at(10.0**n)
        out.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{top + PLOT}" stroke="{GRID}"/>')
        anchor = "end" if n == round(math.log10(x_most)) else "middle"
        out.append(text(x, top + PLOT + 18, power(n), 13, PALE, f' text-anchor="{anchor}"'))
    for n in range(math.ceil(math.log10(y_least)), math.floor(math.log10(y_most)) + 1):
        y = y_at(10.0**n)
        out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="{GRID}"/>')
        out.append(text(LEFT - 6, y + 4, power(n), 13, PALE, ' text-anchor="end"'))
    out.append(f'<path d="M{LEFT} {top} V{top + PLOT} H{right}" fill="none" stroke="#8C8C8C"/>')
    out.append(text((LEFT + right) / 2, height - 12, x_words, more=' text-anchor="middle"'))
    middle = top + PLOT / 2
    out.append(text(16, middle, y_words, more=f' text-anchor="middle" transform="rotate(-90 16 {middle})"'))

    for law, function, _, dash in lines:
        steps = [x_least * (x_most / x_least) ** (n / 60) for n in range(61)]
        seen = [(x_at(p), y_at(function(p))) for p in steps if p < 1 and y_least <= function(p) <= y_most]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in seen)
        out.append(f'<polyline fill="none" stroke="{colours[law]}" stroke-width="2"{dash} points="{points}"/>')
    for row in rows:
        window, rtt_s = float(row["packets_per_round_trip"]), float(row["rtt_s"])
        if figure == "westwood":
            window *= math.sqrt(1 - QUEUED_RTT_S / rtt_s)
        out.append(mark(row["signals"], x_at(float(row["p"])), y_at(window), colours[row["law"]]))
    return "\n".join([*out, "</svg>"]) + "\n"


def draw(penstock):
    listed = json.loads(subprocess.run([penstock, "laws", "--json"], capture_output=True, text=True, check=True).stdout)
    colours = {law["name"]: law["colour"] for law in listed}
    with TABLE.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for figure in FIGURES:
        path = IMAGES / f"response-{figure}.svg"
        path.write_text(picture(figure, [row for row in rows if row["figure"] == figure], colours))
        print(path.relative_to(ROOT))


def main():
    words = sys.argv[2:] or ["measure", "draw"]
    if len(sys.argv) < 2 or set(words) - {"measure", "draw"}:
        sys.exit(__doc__)
    penstock = str(pathlib.Path(sys.argv[1]).resolve())
    if "measure" in words:
        measure(penstock)
    if "draw" in words:
        draw(penstock)


if __name__ == "__main__":
    main()
