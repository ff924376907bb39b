"""A door in front of the stack that lets everything through and remembers what passed.

Not every client tells which version it settled on or what status it met; here both are seen the same way for all.
"""

import http.client
import json
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit, urlunsplit


@dataclass(frozen=True)
class Passed:
    """One request and what was answered."""

    http_method: str
    path: str
    version: str | None
    method: str | None
    status: int
    answer: dict


class Door:
    """While entered, `url` leads to `target`, and `passed` grows."""

    def __init__(self, target):
        self.target = urlsplit(target)
        self.passed = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.server.daemon_threads = True
        self.url = urlunsplit(self.target._replace(netloc=f"127.0.0.1:{self.server.server_port}"))

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def posts(self):
        return [each for each in self.passed if each.http_method == "POST" and each.path == self.target.path]

    def handler(door):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                stack = http.client.HTTPConnection(door.target.netloc)
                stack.request(self.command, self.path, body, dict(self.headers))
                response = stack.getresponse()
                answer = response.read()
                stack.close()
                asked = parsed(body)
                # Before the answer leaves: the client may end, and be asked about, as soon as it has it.
                door.passed.append(
                    Passed(
                        self.command,
                        self.path,
                        self.headers.get("MCP-Protocol-Version"),
                        asked.get("method"),
                        response.status,
                        parsed(answer),
                    )
                )
                self.send_response_only(response.status)
                for name, value in response.getheaders():
                    if name.lower() not in ("transfer-encoding", "content-length"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_POST = do_DELETE = do_OPTIONS = do_HEAD = pass_on

            def log_message(self, *_):
                pass

        return Handler


def parsed(body):
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
