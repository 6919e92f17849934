"""NumPy's functions that can be traced, and what is called for them."""

FUNCTIONS = {}


def implements(*functions):
    """What is called for these; None: not every NumPy has it."""
    def register(own):
        FUNCTIONS.update({f: own for f in functions if f is not None})
        return own
    return register
