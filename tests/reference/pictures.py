"""What a reader sees of a picture: its words, where they are, and whether they are in each other's way."""

from matplotlib import pyplot

SIZES = {"small": (3.5, 2.6), "large": (10.0, 7.0)}


def axes_of_size(size):
    """Axes of a new figure of a named size."""
    return pyplot.subplots(figsize=SIZES[size], layout="constrained")[1]


def words_of(ax):
    """All texts that are drawn: of the axes, of colour bars and second axes beside them, of the legend."""
    figure = ax.figure
    figure.draw_without_rendering()
    texts = []
    for part in figure.axes + [child for axes in figure.axes for child in axes.child_axes]:
        if not part.axison:
            continue
        texts += [part.title, part.xaxis.label, part.yaxis.label, *part.texts]
        for axis, (low, high) in ((part.xaxis, part.get_xlim()), (part.yaxis, part.get_ylim())):
            ends = sorted((low, high))
            ticks = [tick for tick in axis.get_major_ticks() if ends[0] <= tick.get_loc() <= ends[1]]
            texts += [text for tick in ticks for text in (tick.label1, tick.label2)]
        if part.get_legend() is not None:
            texts += [*part.get_legend().get_texts(), part.get_legend().get_title()]
    return [text for text in texts if text.get_visible() and text.get_text().strip()]


def collisions(ax, slack=1.0):
    """Pairs of texts whose boxes overlap by more than so many pixels, and texts that leave the figure."""
    texts = words_of(ax)
    renderer = ax.figure.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in texts]
    width, height = ax.figure.bbox.width, ax.figure.bbox.height
    found = [
        (text.get_text(), "leaves the figure")
        for text, box in zip(texts, boxes, strict=True)
        if box.x0 < -slack or box.y0 < -slack or box.x1 > width + slack or box.y1 > height + slack
    ]
    for i, one in enumerate(boxes):
        for j, other in enumerate(boxes[:i]):
            across = min(one.x1, other.x1) - max(one.x0, other.x0)
            up = min(one.y1, other.y1) - max(one.y0, other.y0)
            if across > slack and up > slack:
                found.append((texts[j].get_text(), texts[i].get_text()))
    return found
