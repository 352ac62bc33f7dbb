"""What was measured, a file a step, so that an interrupted run goes on where it ended.

    <folder>/<paper>/steps/<experiment>.<step>.json: {"stamp", "rows", "notes", "seconds", "date"}

A stamp is the description of the machine and of what was measured. A file with another stamp is of
another machine or version: it is not taken, and the step is measured again.
"""
import csv
import json
import os
import time


class Store:
    def __init__(self, folder, stamp):
        self.folder, self.stamp = folder, stamp

    def path_of(self, paper, experiment, step):
        return os.path.join(self.folder, paper.name, "steps", f"{experiment.name}.{step.name}.json")

    def load(self, paper, experiment, step):
        """What was kept; None if there is nothing of this machine and version."""
        path = self.path_of(paper, experiment, step)
        if not os.path.exists(path):
            return None
        with open(path, encoding="utf-8") as kept:
            try:
                found = json.load(kept)
            except ValueError:  # half a file
                return None
        if not isinstance(found, dict) or not {"rows", "notes", "seconds", "date"} <= set(found):
            return None
        return found if found.get("stamp") == self.stamp else None

    def save(self, paper, experiment, step, rows, notes, seconds):
        path = self.path_of(paper, experiment, step)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".new", "w", encoding="utf-8") as out:
            json.dump({"stamp": self.stamp, "rows": rows, "notes": notes, "seconds": seconds,
                       "date": time.strftime("%Y-%m-%d")}, out, indent=1)
        os.replace(path + ".new", path)


def write_csv(path, rows):
    """The figures behind pictures and tables: all keys that any row has."""
    heads = ["panel", "series", "x", "value", "unit"]
    heads += sorted({key for row in rows for key in row} - set(heads))
    with open(path, "w", encoding="utf-8", newline="") as out:
        table = csv.DictWriter(out, heads, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
