"""A model that makes the calls of a list, one after another, and keeps what it was shown: tools and results."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Model:
    """While entered, it answers at `url` as the API of the real ones does."""

    def __init__(self, calls):
        self.calls, self.tools, self.results = calls, [], []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def take_in(self, request):
        self.tools = [tool["name"] for tool in request["tools"]]
        blocks = [block for message in request["messages"] if isinstance(message["content"], list) for block in message["content"]]
        self.results = [block for block in blocks if block["type"] == "tool_result"]

    def events(self):
        """The next call, or the end, as a stream of events."""
        if len(self.results) < len(self.calls):
            tool, arguments = self.calls[len(self.results)]
            block = {"type": "tool_use", "id": f"toolu_{len(self.results)}", "name": tool, "input": {}}
            delta, stop = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}, "tool_use"
        else:
            block, delta, stop = {"type": "text", "text": ""}, {"type": "text_delta", "text": "Done."}, "end_turn"
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "msg_0", "type": "message", "role": "assistant", "model": "none", "content": [], "usage": usage}
        yield {"type": "message_start", "message": message}
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        yield {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": usage}
        yield {"type": "message_stop"}

    def handler(model):
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                model.take_in(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                for event in model.events():
                    self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

            def log_message(self, *_):
                pass

        return Handler
