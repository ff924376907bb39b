"""The worst months of docs/operate.md, computed from the prices and defaults of the template. `python test_costs.py` prints
the tables for the guide."""

from pathlib import Path

from stack import TEMPLATE, Stack

ROOT = Path(__file__).parents[2]
PRICES = {name: float(price) for kind in TEMPLATE["Mappings"]["Prices"].values() for name, price in kind.items()}
MONTH = 30 * 24 * 3600  # Seconds.
PER_INSTANCE = 10  # Calls a second that Lambda lets through for each instance that a function may have.
LOG_BYTES = 200
STRANGER_MS = 10  # What refusing a well-formed key that nobody has takes at most, on average.
HOLDER_WRITES = 15  # Units a call: the dearest tool on small items, create_run for an asset (docs/cost.md).
MEMORY_GB = Stack().of("AWS::Lambda::Function")["ChecklistsMcp"]["MemorySize"] / 1024

CALL = (PRICES["MillionRequests"] + PRICES["MillionReads"] + LOG_BYTES * 1e6 / 1e9 * PRICES["Gb"]) / 1e6
SECOND = MEMORY_GB * PRICES["GbSecond"]


def by_concurrency(instances):
    """Function URLs: as many calls as Lambda lets through, and no instance idle for a moment, however long they take."""
    calls = instances * PER_INSTANCE * MONTH
    stranger = calls * CALL + instances * MONTH * SECOND
    return calls, stranger, stranger + calls * HOLDER_WRITES * PRICES["MillionWrites"] / 1e6


def by_throttle(rate):
    """The HTTP API: as many calls as it lets through in the long run."""
    calls = rate * MONTH
    stranger = calls * (CALL + PRICES["MillionHttpApi"] / 1e6 + STRANGER_MS / 1000 * SECOND)
    return calls, stranger, stranger + calls * HOLDER_WRITES * PRICES["MillionWrites"] / 1e6


def table(name, compute, sizes):
    yield f"| {name} | million calls | strangers, USD | a key holder who writes, USD |"
    yield "| ---: | ---: | ---: | ---: |"
    for size in sizes:
        calls, stranger, holder = compute(size)
        yield f"| {size} | {calls / 1e6:,.0f} | {stranger:,.0f} | {holder:,.0f} |"


TABLES = [
    list(table("ReservedConcurrency", by_concurrency, [1, 2, 3, 5, 10, 20, 50, 100])),
    list(table("ThrottleRate", by_throttle, [1, 5, 15, 50, 100, 500])),
]


def test_the_guide_has_the_tables_of_worst_months():
    guide = (ROOT / "docs/operate.md").read_text()
    for lines in TABLES:
        assert "\n".join(lines) in guide


def test_strangers_cannot_make_the_default_deployment_dearer_than_its_budget():
    defaults = TEMPLATE["Parameters"]
    (stage,) = Stack().of("AWS::ApiGatewayV2::Stage").values()
    _, stranger, _ = by_throttle(stage["DefaultRouteSettings"]["ThrottlingRateLimit"])
    assert stranger <= defaults["MonthlyBudgetUsd"]["Default"]
    # And the alarm on an hour's spending rings long before a month is over.
    assert defaults["SpendPerHourUsd"]["Default"] * 24 * 30 <= 1.5 * defaults["MonthlyBudgetUsd"]["Default"]


def test_a_function_has_as_many_instances_as_are_reserved_for_it():
    for instances in (1, 10):
        functions = Stack(ReservedConcurrency=instances).of("AWS::Lambda::Function").values()
        assert {each["ReservedConcurrentExecutions"] for each in functions} == {instances}


if __name__ == "__main__":
    print("\n\n".join("\n".join(lines) for lines in TABLES))
