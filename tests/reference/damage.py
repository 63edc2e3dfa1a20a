"""Files damaged as disks and broken copies damage them."""


def damaged(data, moments):
    """Bytes with one flipped bit, or cut short, or with a piece of zeros."""
    place, kind = moments.randrange(len(data)), moments.randrange(4)
    if kind == 0:
        return data[:place]
    if kind == 1:
        return data[:place] + bytes(len(data[place : place + 64])) + data[place + 64 :]
    return data[:place] + bytes([data[place] ^ (1 << moments.randrange(8))]) + data[place + 1 :]
