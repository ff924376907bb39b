"""Programs that run beside a test, and stop with it."""

import json
import os
import socket
import subprocess
import time
import urllib.request
from contextlib import contextmanager

PATIENCE = 60  # Seconds until a program must answer. They take one or two.


@contextmanager
def running(command, log, is_ready, **environment):
    """Runs a program until the block ends; its output goes to `log`."""
    with open(log, "wb") as output:
        process = subprocess.Popen(
            list(map(str, command)), stdout=output, stderr=subprocess.STDOUT, env=os.environ | environment
        )
        try:
            until(lambda: process.poll() is not None or is_ready(), f"{command[0]} does not get ready")
            assert process.poll() is None, f"{command[0]} ended:\n{log.read_text(errors='replace')}"
            yield process
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def until(holds, otherwise, patience=PATIENCE):
    end = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < end, otherwise
        time.sleep(0.05)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def said(command, **environment):
    """What a program prints, once it has ended well."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=os.environ | environment, timeout=300)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@contextmanager
def ministack(program, folder):
    """The AWS emulator. Its URL."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"

    def is_ready():
        try:
            return urllib.request.urlopen(f"{url}/_ministack/ready", timeout=1).status == 200
        except OSError:
            return False

    # The functions that it starts are told its URL only if it is told that itself.
    settings = {"BIND_HOST": "127.0.0.1", "GATEWAY_PORT": str(port), "IOT_MTLS_ENABLED": "0", "AWS_ENDPOINT_URL": url}
    with running([program], folder / "ministack.log", is_ready, **settings):
        yield url


@contextmanager
def local_stack(program, folder):
    """The local stack. What it writes of its engines and endpoints."""
    data = folder / "data"
    endpoints = data / "endpoints.json"
    with running([program, "--data", data, "--port", "0"], folder / "onepost.log", endpoints.exists):
        yield json.loads((data / "engines.json").read_text()), json.loads(endpoints.read_text())["checklists"]
