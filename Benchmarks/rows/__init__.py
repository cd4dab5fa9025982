"""The rows of the table: one module a subject, each with a list ROWS; see harness/row.py."""

import importlib
import pkgutil


def all_rows():
    """The rows by the name of their module, with dashes, in the order in which they are measured."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    names.sort(key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    return {name.replace("_", "-"): importlib.import_module(f"{__name__}.{name}").ROWS
            for name in names}


# What is not here comes after these, by name.
ORDER = ["begin_end", "durable_submit", "latency", "run_true", "lateness", "memory", "idle", "start",
         "size"]
