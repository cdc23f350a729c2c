"""A server on loopback that speaks Anthropic's protocol: another provider for the real client of another provider."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

USAGE = {"input_tokens": 50, "output_tokens": 5}


class AnthropicServer:
    """Answers with `replies` in order: content blocks, or an error with its code. `requests` holds what was asked."""

    def __init__(self) -> None:
        self.replies: list[Any] = []
        self.requests: list[dict[str, Any]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args: Any) -> None:
                pass

            def do_POST(self) -> None:
                server.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                status, body = _reply(server.replies[len(server.requests) - 1])
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.send_header("Retry-After", "0")
                self.end_headers()
                self.wfile.write(data)

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()


def call(name: str, **args: Any) -> dict[str, Any]:
    """A tool call's block."""
    return {"type": "tool_use", "id": f"id-{name}", "name": name, "input": args}


def text(said: str) -> dict[str, Any]:
    """A block of text."""
    return {"type": "text", "text": said}


def _reply(reply: Any) -> tuple[int, dict[str, Any]]:
    if isinstance(reply, tuple):
        status, kind, message = reply
        return status, {"type": "error", "error": {"type": kind, "message": message}}
    stop = reply[-1] if reply and isinstance(reply[-1], str) else "end_turn"
    content = [block for block in reply if isinstance(block, dict)]
    head = {"id": "m", "type": "message", "role": "assistant", "model": "large"}
    return 200, {**head, "content": content, "stop_reason": stop, "stop_sequence": None, "usage": USAGE}
