"""What the guides name is there."""

import re
from functools import cache
from pathlib import Path

import pytest
from stack import TEMPLATE

ROOT = Path(__file__).parents[2]
GUIDES = [ROOT / "docs/operate.md", ROOT / "docs/security.md"]


@cache
def sources():
    folders = ("shared", "functions", "local", "admin", "tests")
    files = [each for folder in folders for kind in ("rs", "py") for each in (ROOT / folder).rglob(f"*.{kind}")]
    return "".join(each.read_text() for each in files if "target" not in each.parts)


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_every_test_that_is_named_exists(guide):
    named = set(re.findall(r"`([a-z0-9]+(?:_[a-z0-9]+){3,})`", guide.read_text()))
    defined = set(re.findall(r"\b(?:fn|def) ([a-z0-9_]+)\(", sources()))
    assert named - defined == set()


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_every_file_that_is_named_exists(guide):
    named = re.findall(r"`((?:infra|tests|docs|functions|shared)/[\w./-]+)`", guide.read_text())
    assert [each for each in named if not (ROOT / each).exists()] == []


def test_every_parameter_is_explained_with_its_default():
    rows = [line for line in GUIDES[0].read_text().splitlines() if line.startswith("| `")]
    explained = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    # How CloudFront's secret is rotated stands under Doors.
    assert TEMPLATE["Parameters"].keys() - {"OriginSecretVersion"} == explained & TEMPLATE["Parameters"].keys()
    settings = (ROOT / "functions/checklists/src/settings.rs").read_text()
    key, organisation = re.search(r"per_key: ([\d_]+), per_organisation: ([\d_]+) \}", settings).groups()
    assert TEMPLATE["Parameters"]["ChecklistsCallsPerKey"]["Default"] == int(key)
    assert TEMPLATE["Parameters"]["ChecklistsCallsPerOrganisation"]["Default"] == int(organisation)
