"""Errors a user can mend; the command line prints them as one line and exits with code 2."""


class ScoreGNNError(Exception):
    """Base of all errors raised on purpose by this package."""


class InputError(ScoreGNNError, ValueError):
    """Something given by the user (a file, a column, a value, an option) cannot be used; the message says why."""


class InvalidMoleculeError(InputError):
    """A structure that cannot become a molecule; `str(error)` is the reason, without row number."""


class RunFolderError(ScoreGNNError):
    """A run folder is missing, unfinished, damaged, locked, foreign or of a newer format."""


class MissingExtraError(ScoreGNNError, ImportError):
    """An optional dependency is needed; the message names the extra to install."""
