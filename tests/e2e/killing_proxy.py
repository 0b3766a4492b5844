"""Stands between an operator and its API server, and kills the operator at its first write: before the server hears of it, or after
it has done it and before its answer. The next operator dies the other way, so that a life goes on."""
import http.client
import http.server
import json
import ssl
import threading

ANSWER_SECONDS = 600  # watches end by themselves before


class KillingProxy:
    """Serves at once, on loopback. `kill`: ends the operator that runs now; it is called at most once for each `arm()`."""

    def __init__(self, server, kill):
        self._server, self._kill = server, kill
        self._trust = ssl.create_default_context(cafile=server.authority)
        self._lock = threading.Lock()
        self._is_armed, self._kills_after = False, True
        self.kills = 0
        self.made = []  # "pods cora-0-0", each time that the server made one
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *words):
                pass

            def do_any(self):
                proxy.pass_on(self)

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = do_any

        listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        listener.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificates = server.folder / "certificates"
        context.load_cert_chain(certificates / "apiserver.crt", certificates / "apiserver.key")
        listener.socket = context.wrap_socket(listener.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"https://127.0.0.1:{listener.server_address[1]}"
        threading.Thread(target=listener.serve_forever, daemon=True).start()

    def arm(self):
        with self._lock:
            self._is_armed, self._kills_after = True, not self._kills_after

    def disarm(self):
        with self._lock:
            self._is_armed = False

    def pass_on(self, handler):
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        is_write = handler.command != "GET" and "/events" not in handler.path and "dryRun=" not in handler.path
        try:
            if is_write and self._dies(after=False):
                return self._hang_up(handler)
            answer = self._ask(handler, body)
            if is_write and handler.command == "POST" and answer.status == 201:
                self.made.append(handler.path.split("?")[0].rsplit("/", 1)[1] + " " + json.loads(body)["metadata"]["name"])
            if is_write and self._dies(after=True):
                return self._hang_up(handler)
            return self._give(handler, answer)
        except (OSError, http.client.HTTPException):  # one of both ends has gone
            return self._hang_up(handler)

    def _dies(self, after):
        with self._lock:
            if not self._is_armed or self._kills_after != after:
                return False
            self._is_armed = False
            self.kills += 1
            self._kill()
            return True

    @staticmethod
    def _hang_up(handler):
        handler.close_connection = True

    def _ask(self, handler, body):
        host, port = self._server.url.removeprefix("https://").split(":")
        connection = http.client.HTTPSConnection(host, int(port), context=self._trust, timeout=ANSWER_SECONDS)
        headers = {name: value for name, value in handler.headers.items() if name.lower() not in ("host", "connection")}
        connection.request(handler.command, handler.path, body=body or None, headers=headers)
        return connection.getresponse()

    def _give(self, handler, answer):
        """As a stream: a watch's events must not wait for its end."""
        handler.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "transfer-encoding", "content-length", "date", "server"):
                handler.send_header(name, value)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        while part := answer.read1(65536):
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            handler.wfile.flush()
        handler.wfile.write(b"0\r\n\r\n")
