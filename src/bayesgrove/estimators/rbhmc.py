"""placeholder"""


class RBHMC:
    pass
