"""An OpenAI-compatible server on loopback: real HTTP for the real client."""

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import sleep
from typing import Any

_HEAD = {"id": "c", "created": 1, "model": "tiny"}
_USAGE = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}


class OpenAIServer:
    """Speaks chat completions, plain and streamed. Answers with `replies` in order, or with what `think` returns.

    `requests` holds what was asked. A reply may hold `text`, `calls`, `refusal`, `finish`; or a fault: `status`,
    `error` and `headers`, `body` (of another shape), `cut` (off half-way), `endless` (just stops), `delay` (seconds).
    """

    def __init__(self) -> None:
        self.replies: list[dict[str, Any]] = []
        self.requests: list[dict[str, Any]] = []
        self.think: Callable[[dict[str, Any]], dict[str, Any]] | None = None
        self.models: dict[str, int] = {"tiny": 200}
        self.key = "good"
        self.streams = self.counts = True
        server = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args: Any) -> None:
                pass

            def do_GET(self) -> None:
                name = self.path.rpartition("/")[2]
                if not self.path.startswith("/v1/"):
                    return self._page()
                self._json(server._refusal(self) or server.models.get(name, 404), {"id": name, "object": "model"})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if refusal := server._refusal(self):
                    return self._json(refusal, {"error": {"message": "bad key", "code": "invalid_api_key"}})
                server.requests.append(body)
                reply = server.think(body) if server.think else server.replies[len(server.requests) - 1]
                sleep(reply.get("delay", 0))
                if reply.get("status", 200) != 200:
                    return self._json(reply["status"], {"error": reply.get("error", {"message": "no"})}, reply)
                if body.get("stream") and not server.streams:
                    return self._json(400, {"error": {"message": "stream is not supported"}})
                if "body" in reply and body.get("stream") and "error" in reply["body"]:
                    return self._stream(reply)
                if "body" in reply:
                    return self._json(200, reply["body"])
                if body.get("stream"):
                    return self._stream(reply)
                message = {"role": "assistant", "content": reply.get("text"), "refusal": reply.get("refusal")}
                if "calls" in reply:
                    message["tool_calls"] = [_wire(number, *one) for number, one in enumerate(reply["calls"])]
                choice = {"index": 0, "message": message, "finish_reason": reply.get("finish", "stop")}
                usage = {"usage": _USAGE} if server.counts else {}
                self._json(200, {**_HEAD, "object": "chat.completion", "choices": [choice], **usage}, reply)

            def _page(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(b"<html>welcome</html>")

            def _json(self, status: int, value: Any, reply: dict[str, Any] | None = None) -> None:
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                for name, text in (reply or {}).get("headers", {}).items():
                    self.send_header(name, text)
                self.end_headers()
                self.wfile.write(data[: len(data) // 2] if (reply or {}).get("cut") else data)
                self.close_connection = True

            def _stream(self, reply: dict[str, Any]) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                if "body" in reply:
                    return self._chunk(f"data: {json.dumps(reply['body'])}\n\n".encode())
                said = reply.get("text") or ""
                deltas: list[dict[str, Any]] = [{"role": "assistant", "content": said[:4]}]
                if said[4:]:
                    deltas.append({"content": said[4:]})
                if "refusal" in reply:
                    deltas.append({"refusal": reply["refusal"]})
                for number, one in enumerate(reply.get("calls", [])):
                    whole = _wire(number, *one)
                    text = whole["function"]["arguments"]
                    first = {**whole, "index": number, "function": {**whole["function"], "arguments": text[:5]}}
                    deltas.append({"tool_calls": [first]})
                    deltas.append({"tool_calls": [{"index": number, "function": {"arguments": text[5:]}}]})
                for place, delta in enumerate(deltas):
                    if reply.get("cut") and place == len(deltas) - 1:
                        self.close_connection = True
                        return
                    self._event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
                if not reply.get("endless"):
                    self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": reply.get("finish", "stop")}]})
                    if server.counts:
                        self._event({"choices": [], "usage": _USAGE})
                    self._chunk(b"data: [DONE]\n\n")
                self._chunk(b"")

            def _event(self, part: dict[str, Any]) -> None:
                event = json.dumps({**_HEAD, "object": "chat.completion.chunk", **part})
                self._chunk(f"data: {event}\n\n".encode())

            def _chunk(self, data: bytes) -> None:
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.handle_error = lambda *about: None  # type: ignore[method-assign]  # clients that time out hang up
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def _refusal(self, handler: BaseHTTPRequestHandler) -> int | None:
        return None if handler.headers["Authorization"] == f"Bearer {self.key}" else 401

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()


def _wire(number: int, name: str, args: Any) -> dict[str, Any]:
    text = args if isinstance(args, str) else json.dumps(args)
    return {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": text}}
