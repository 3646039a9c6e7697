"""The HTTP interface of the Agones SDK's sidecar as it is documented (agones.dev, "Client SDK: REST"), which keeps the calls that it gets.
Paths and methods that it does not have are answered with 404, bodies that are no JSON object with 400."""

import http.server
import json
import threading

# Of the documented calls those that a game server makes of its own accord.
POSTS = {"/ready", "/health", "/allocate", "/shutdown", "/reserve"}


class FakeAgones:
    """In a `with` block. calls: paths in their order. state: as the Agones controller would set it."""

    def __init__(self):
        self.calls, self.problems = [], []
        self.refuse = 0  # calls that are answered with 500, as when the controller cannot be reached
        self._changed = threading.Condition()

    def __enter__(self):
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self._answer(fake.take(self.path, body, self.headers.get("Content-Type", "")))

            def do_GET(self):
                self._answer(404)

            def _answer(self, status):
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    @property
    def port(self):
        return self._server.server_address[1]

    @property
    def state(self):
        states = {"/ready": "Ready", "/allocate": "Allocated", "/shutdown": "Shutdown"}
        reported = [states[call] for call in self.calls if call in states]
        return reported[-1] if reported else "Scheduled"

    @property
    def state_calls(self):
        """The calls but Health."""
        return [call for call in self.calls if call != "/health"]

    def take(self, path, body, content_type):
        with self._changed:
            if path not in POSTS:
                self.problems.append(f"{path} is no call")
                return 404
            try:
                good = isinstance(json.loads(body), dict) and content_type == "application/json"
            except ValueError:
                good = False
            if not good:
                self.problems.append(f"{path} with {body!r} as {content_type!r}")
                return 400
            if self.refuse > 0:
                self.refuse -= 1
                return 500
            self.calls.append(path)
            self._changed.notify_all()
            return 200

    def await_(self, condition, timeout=20):
        """Until condition(self) holds after a call. Raises AssertionError."""
        with self._changed:
            assert self._changed.wait_for(lambda: condition(self), timeout), self.calls
