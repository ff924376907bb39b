"""A function behind Amazon's runtime interface emulator, which comes inside the SAM CLI's package."""

import base64
import http.client
import json
import os
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from processes import free_port, listens, running

INVOKE = "/2015-03-31/functions/function/invocations"
OF_AWS = {"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}


class Function:
    def __init__(self, port, log):
        self.port, self.log = port, log

    def invoke(self, event):
        door = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        door.request("POST", INVOKE, json.dumps(event))
        return json.loads(door.getresponse().read())

    def answer(self, method, path, headers, body, in_base64=False):
        """Status, headers and bytes of the answer to a request, sent as an HTTP API sends it."""
        reply = self.invoke(event(method, path, headers, body, in_base64))
        assert "statusCode" in reply, reply
        text = reply["body"]
        body = base64.b64decode(text) if reply["isBase64Encoded"] else text.encode()
        return reply["statusCode"], reply["headers"], body

    def lines(self):
        """What the function has logged, without the lines of the emulator."""
        lines = self.log.read_text(errors="replace").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]


@contextmanager
def emulated(binary, folder, **settings):
    """Runs a function's binary as Lambda does."""
    import samcli

    rie = Path(samcli.__file__).parent / "local/rapid/aws-lambda-rie-x86_64"
    port, api = free_port(), free_port()
    log = folder / "function.log"
    of_lambda = {"AWS_LAMBDA_FUNCTION_NAME": "function", "AWS_LAMBDA_FUNCTION_TIMEOUT": "25", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "256"}
    addresses = ["--runtime-interface-emulator-address", f"127.0.0.1:{port}", "--runtime-api-address", f"127.0.0.1:{api}"]
    with running([rie, *addresses, os.path.abspath(binary)], log, lambda: listens(port), **OF_AWS, **of_lambda, **settings):
        yield Function(port, log)


def event(method, path, headers, body, in_base64=False):
    """Payload format 2.0."""
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {name.lower(): value for name, value in headers.items()},
        "requestContext": {
            "stage": "$default",
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1", "userAgent": "test"},
        },
        "body": base64.b64encode(body).decode() if in_base64 else body.decode(),
        "isBase64Encoded": in_base64,
    }


@contextmanager
def served(answer):
    """An HTTP server that answers each request by `answer(method, path, headers, body)`. Its URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, headers, body = answer(self.command, self.path, dict(self.headers), body)
            self.send_response_only(status)
            for name, value in headers.items():
                if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_DELETE = do_OPTIONS = do_PUT = do_HEAD = pass_on

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def passed_on(address, method, path, headers, body):
    """The same request to another server."""
    door = http.client.HTTPConnection(address, timeout=60)
    door.request(method, path, body, headers)
    response = door.getresponse()
    body = response.read()
    door.close()
    return response.status, dict(response.getheaders()), body
