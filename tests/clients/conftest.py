"""Prints the table, and who was passed over, below what pytest says."""

import test_clients


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line("")
    for line in test_clients.table():
        terminalreporter.write_line(line)
    terminalreporter.write_line("")
    for folder, reason in test_clients.missing().items():
        terminalreporter.write_line(f"SKIPPED: {folder}: cannot be installed: {reason}", red=True)
