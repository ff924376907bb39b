"""Somebody is told, of what, and where it says what to do."""

import json
import re
from pathlib import Path

import pytest
from stack import Stack

ROOT = Path(__file__).parents[2]
STACK = Stack(AlarmEmail="ops@example.com")
ALARMS = STACK.of("AWS::CloudWatch::Alarm")


@pytest.mark.parametrize("kind, metrics", {
    "Errors": {"Errors"},
    "Throttles": {"Throttles"},
    "Slow": {"Duration"},
    "Spending": {"Invocations", "Duration"},
}.items())
def test_every_function_is_in_every_alarm_of_its_product(kind, metrics):
    for function in STACK.of("AWS::Lambda::Function"):
        watched = {
            each["MetricStat"]["Metric"]["MetricName"]
            for each in ALARMS[f"Checklists{kind}"]["Metrics"]
            if f"'<{function}>'" in str(each)
        }
        assert watched == metrics, function


def test_every_metric_of_an_alarm_is_in_what_it_computes():
    for name, alarm in ALARMS.items():
        if "Metrics" in alarm:
            computed, *measured = alarm["Metrics"]
            assert all(each["ReturnData"] is False for each in measured), name
            if computed["Expression"] != "SUM(METRICS())":
                names = set(re.findall(r"[a-z_]+", computed["Expression"]))
                assert names == {each["Id"] for each in measured}, name


def test_slow_is_a_share_of_the_function_s_own_deadline_and_well_before_it():
    slow = ALARMS["ChecklistsSlow"]
    (mcp,) = [each for each in slow["Metrics"] if each["Id"] == "mcp"]
    assert mcp["MetricStat"]["Stat"] == "p99"
    timeout = STACK.of("AWS::Lambda::Function")["ChecklistsMcp"]["Timeout"]
    assert slow["Metrics"][0]["Expression"] == f"mcp / {timeout * 1000}"
    assert float(slow["Threshold"]) <= 0.5


def test_every_table_has_its_alarms():
    for table in STACK.of("AWS::DynamoDB::Table"):
        for kind in ("Throttles", "Spending"):
            assert f"'Value': '<{table}>'" in str(ALARMS[f"{table}{kind}"])


def test_faults_that_lambda_counts_as_successes_are_counted_from_the_log():
    (filter,) = STACK.of("AWS::Logs::MetricFilter").values()
    assert filter["FilterPattern"] == '{ $.level = "ERROR" }'
    (metric,) = filter["MetricTransformations"]
    assert (metric["MetricNamespace"], metric["MetricName"]) == (ALARMS["ChecklistsFaults"]["Namespace"], "ChecklistsFaults")


def test_every_alarm_tells_somebody_and_leads_to_what_to_do():
    guide = (ROOT / "docs/operate.md").read_text()
    for name, alarm in ALARMS.items():
        assert alarm["AlarmActions"] == alarm["OKActions"] == ["<Alarms>"], name
        assert alarm["TreatMissingData"] == "notBreaching", name
        heading = re.search(r"docs/operate\.md, Alarms: ([\w ]+)$", alarm["AlarmDescription"])[1]
        assert f"| **{heading}** |" in guide, name
    assert STACK.of("AWS::SNS::Topic")["Alarms"]["Subscription"] == [{"Protocol": "email", "Endpoint": "ops@example.com"}]


def test_a_budget_comes_with_the_address_that_it_writes_to():
    (budget,) = STACK.of("AWS::Budgets::Budget").values()
    assert budget["Budget"]["BudgetLimit"] == {"Amount": 60, "Unit": "USD"}
    assert not Stack().of("AWS::Budgets::Budget") and "Subscription" not in Stack().of("AWS::SNS::Topic")["Alarms"]


def test_the_dashboard_is_json_and_shows_every_function():
    (dashboard,) = STACK.of("AWS::CloudWatch::Dashboard").values()
    widgets = json.loads(dashboard["DashboardBody"])["widgets"]
    shown = json.dumps([each for each in widgets if each["properties"]["title"] == "Calls"])
    assert all(f"<{name}>" in shown for name in STACK.of("AWS::Lambda::Function"))
    # No two widgets lie upon each other.
    cells = [(x, y) for w in widgets for x in range(w["x"], w["x"] + w["width"]) for y in range(w["y"], w["y"] + w["height"])]
    assert len(cells) == len(set(cells))
