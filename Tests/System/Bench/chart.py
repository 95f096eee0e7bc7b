# SPDX-License-Identifier: Apache-2.0
"""Draws lines over a logarithmic scale as an SVG, with nothing but text."""
import math

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 420, 70, 200, 40, 50
COLORS = ["#3b6fb6", "#c2571a", "#2e8b57", "#9b3f9b", "#b8860b", "#555555", "#c23b5a", "#1b8a8f"]


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


def number(value):
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:g}{unit}"
    return f"{value:g}"


def decades(low, high):
    return [10.0 ** power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def chart(title, across, up, lines):
    """An SVG. `lines` are names with points (x, y), all above 0; both axes are logarithmic."""
    points = [point for _, line in lines for point in line]
    xs, ys = decades(min(x for x, _ in points), max(x for x, _ in points)), decades(min(y for _, y in points), max(y for _, y in points))
    if len(xs) == 1:
        xs.append(xs[0] * 10)
    if len(ys) == 1:
        ys.append(ys[0] * 10)

    def place(x, y):
        across = math.log10(x / xs[0]) / math.log10(xs[-1] / xs[0])
        up = math.log10(y / ys[0]) / math.log10(ys[-1] / ys[0])
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
           f'<text x="{LEFT}" y="22" font-size="15" fill="#222">{escaped(title)}</text>']
    for x in xs:
        left, _ = place(x, ys[0])
        svg.append(f'<path d="M{left:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>'
                   f'<text x="{left:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle" fill="#444">{number(x)}</text>')
    for y in ys:
        _, top = place(xs[0], y)
        svg.append(f'<path d="M{LEFT} {top:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 8}" y="{top + 4:.1f}" text-anchor="end" fill="#444">{number(y)}</text>')
    svg.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle" fill="#222">{escaped(across)}</text>')
    svg.append(f'<text x="18" y="{(TOP + HEIGHT - BOTTOM) / 2}" text-anchor="middle" fill="#222" '
               f'transform="rotate(-90 18 {(TOP + HEIGHT - BOTTOM) / 2})">{escaped(up)}</text>')
    ends = sorted((place(*line[-1])[1], index) for index, (_, line) in enumerate(lines))
    labels, last = {}, 0.0
    for top, index in ends:
        last = max(top, last + 15)
        labels[index] = last
    for index, (name, line) in enumerate(lines):
        color = COLORS[index % len(COLORS)]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in (place(*point) for point in line))
        svg.append(f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        svg += [f'<circle cx="{place(*point)[0]:.1f}" cy="{place(*point)[1]:.1f}" r="3" fill="{color}"/>' for point in line]
        svg.append(f'<text x="{WIDTH - RIGHT + 10}" y="{labels[index] + 4:.1f}" fill="{color}">{escaped(name)}</text>')
    return "\n".join(svg + ["</svg>", ""])
