"""Which packages beyond the base a command may need, and what has them installed."""

from __future__ import annotations

from importlib.util import find_spec

_EXTRAS = {
    **dict.fromkeys(("flask", "werkzeug"), "app"),
    "pyocd": "board",
    **dict.fromkeys(("plotly", "scipy"), "report"),
    **dict.fromkeys(("dask", "distributed"), "campaign"),
    "yaml": "labgrid",
    **dict.fromkeys(("saleae", "grpc"), "saleae"),
}
"""By the module that is imported, the extra of pyproject.toml."""


def need(*modules: str) -> None:
    """Raises ModuleNotFoundError for the first that is not there, before anything is measured."""
    for module in modules:
        if find_spec(module) is None:
            raise ModuleNotFoundError(name=module)


def sentence(missing: ModuleNotFoundError) -> str | None:
    """The remedy for a package of an extra that is not installed; None for any other."""
    module = (missing.name or "").partition(".")[0]
    extra = _EXTRAS.get(module)
    if extra is None:
        return None
    return (
        f"This needs the Python package {module}, which is not installed: pip install 'tailscope[{extra}]'."
    )
