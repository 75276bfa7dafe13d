"""What goes wrong when a model is handed to another program."""


class ExportError(ValueError):
    """This model cannot be given to this target; the message says why, and what would help."""
