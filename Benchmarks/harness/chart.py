"""The chart of the ratios: one bar a row, to the right of 1 where bgtaskd is better than the peer.

The scale is logarithmic, so that twice as good and half as good are equally long. A mark shows the goal.
"""

import math
from xml.sax.saxutils import escape

from .table import number

WIDTH = 860
# Where the labels end and the plot begins, and where the plot ends.
LEFT, RIGHT = 350, 790
TOP, ROW_HEIGHT, BAR_HEIGHT, BOTTOM = 74, 36, 18, 62

# Its own background, for a page of any colour; darker where the reader's screen is.
STYLE = """
  .page { fill: #ffffff; stroke: #d0d7de }
  text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328 }
  .title { font-size: 16px; font-weight: 600 }
  .quiet { font-size: 11px; fill: #59636e }
  .value { font-weight: 600 }
  .grid { stroke: #d8dee4 }
  .peer { stroke: #59636e; stroke-width: 1.5 }
  .reached { fill: #2f6fbb }
  .missed { fill: #c4622d }
  .beside { fill: #9fb3c8 }
  .goal { stroke: #1f2328; stroke-width: 2.5 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #161b22; stroke: #3d444d }
    text { fill: #e6edf3 }
    .quiet { fill: #9198a1 }
    .grid { stroke: #2f363e }
    .peer { stroke: #9198a1 }
    .reached { fill: #4c8fdd }
    .missed { fill: #dd7f4a }
    .beside { fill: #5b7087 }
    .goal { stroke: #f0f6fc }
  }
"""


def svg(rows, footnote):
    """The picture of all rows of the results that have a ratio."""
    shown = [row for row in rows if row.get("ratio") and row["isInChart"]]
    scale = Scale([row["ratio"] for row in shown]
                  + [row["goalBound"] for row in shown if row["goalBound"]])
    bottom = TOP + ROW_HEIGHT * len(shown)
    height = bottom + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" role="img" aria-label="bgtaskd against its peers">',
        f"<style>{STYLE}</style>",
        f'<rect class="page" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="6"/>',
        text(20, 30, "How many times better than the peer, which is at 1", "title"),
        *grid(scale, bottom)]
    for number, row in enumerate(shown):
        parts += bar(row, scale, TOP + ROW_HEIGHT * number)
    x = scale.x(1)
    parts.append(f'<line class="peer" x1="{x}" y1="{TOP - 6}" x2="{x}" y2="{bottom}"/>')
    parts += legend(bottom + 26)
    parts.append(text(20, bottom + 46, footnote, "quiet"))
    return "\n".join([*parts, "</svg>", ""])


class Scale:
    """Where a ratio is, between whole powers of two."""

    def __init__(self, ratios):
        logarithms = [math.log2(ratio) for ratio in ratios] + [0]
        self.low = math.floor(min(logarithms)) - (1 if min(logarithms) < 0 else 0)
        self.high = max(1, math.ceil(max(logarithms)))

    def x(self, ratio):
        share = (math.log2(ratio) - self.low) / (self.high - self.low)
        return round(LEFT + share * (RIGHT - LEFT), 1)

    @property
    def names_every(self):
        """How many marks there are to a name that has room."""
        return math.ceil(40 * (self.high - self.low) / (RIGHT - LEFT))

    @property
    def marks(self):
        return [2.0 ** power for power in range(self.low, self.high + 1)]


def grid(scale, bottom):
    """The lines of the scale, with what they stand for."""
    for ratio in scale.marks:
        x = scale.x(ratio)
        yield f'<line class="grid" x1="{x}" y1="{TOP - 6}" x2="{x}" y2="{bottom}"/>'
        if round(math.log2(ratio)) % scale.names_every == 0:
            name = f"{ratio:g}" if ratio >= 1 else f"1/{1 / ratio:g}"
            yield text(x, TOP - 12, name, "quiet", "middle")


def bar(row, scale, top):
    """A row: what it is, how long its bar is, and its goal."""
    middle = top + ROW_HEIGHT / 2
    state = {True: "reached", False: "missed", None: "beside"}[row["isReached"]]
    ends = sorted([scale.x(1), scale.x(row["ratio"])])
    y = middle - BAR_HEIGHT / 2
    yield text(LEFT - 16, middle - 1, row["title"], anchor="end")
    yield text(LEFT - 16, middle + 12, f"against {row['peer']}", "quiet", "end")
    yield (f'<rect class="{state}" x="{ends[0]}" y="{y}" width="{round(ends[1] - ends[0], 1)}" '
           f'height="{BAR_HEIGHT}"/>')
    after = ends[1]
    if row["goalBound"]:
        x = scale.x(row["goalBound"])
        yield f'<line class="goal" x1="{x}" y1="{y - 4}" x2="{x}" y2="{y + BAR_HEIGHT + 4}"/>'
        # Beside the mark, where the number would stand on it.
        if after - 4 <= x < after + 48:
            after = x
    yield text(after + 6, middle + 4.5, number(row["ratio"]), "value")


def legend(y):
    """What the colours and the mark mean."""
    x = 20
    for state, meaning in (("reached", "goal reached"), ("missed", "goal not reached"),
                           ("beside", "no goal")):
        yield f'<rect class="{state}" x="{x}" y="{y - 10}" width="12" height="12"/>'
        yield text(x + 18, y, meaning, "quiet")
        x += 120
    yield f'<line class="goal" x1="{x + 6}" y1="{y - 11}" x2="{x + 6}" y2="{y + 3}"/>'
    yield text(x + 18, y, "the goal", "quiet")


def text(x, y, words, kind="", anchor=""):
    kind = f' class="{kind}"' if kind else ""
    anchor = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x}" y="{y}"{kind}{anchor}>{escape(words)}</text>'
