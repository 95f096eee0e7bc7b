#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Serves the files of the console, and the client that they use, from their folders, and passes everything else to a running server.

Changes of the files are seen at the next reload of the page, without a build. The policy for contents is that of the server.

    python3 Tests/System/Console/serve.py --server http://127.0.0.1:8080 [--port 9000]
"""

import argparse
import http.client
import http.server
import mimetypes
import os
import urllib.parse

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
WEB = os.path.join(ROOT, "Sources", "RealmConsole", "Web")
CLIENT = os.path.join(ROOT, "clients", "javascript", "realm-rest.js")
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_address: tuple

    def answer(self):
        path = self.path.split("?")[0]
        if path == "/" and "text/html" in self.headers.get("Accept", ""):
            return self.file(os.path.join(WEB, "index.html"))
        if path == "/client.js":
            return self.file(CLIENT)
        if path.startswith("/console/"):
            place = os.path.realpath(os.path.join(WEB, path[len("/console/"):]))
            return self.file(place) if place.startswith(os.path.realpath(WEB) + os.sep) else self.send_error(404)
        return self.forward()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = do_QUERY = answer

    def file(self, place):
        if not os.path.isfile(place):
            return self.send_error(404)
        with open(place, "rb") as source:
            body = source.read()
        self.send_response(200)
        kind = "text/javascript" if place.endswith(".js") else mimetypes.guess_type(place)[0] or "application/octet-stream"
        for field, value in (("Content-Type", kind), ("Content-Length", str(len(body))), ("Cache-Control", "no-store"), ("Content-Security-Policy", POLICY)):
            self.send_header(field, value)
        self.end_headers()
        self.wfile.write(body)

    def forward(self):
        upstream = self.server.upstream
        connection = http.client.HTTPConnection(upstream.hostname, upstream.port, timeout=3600)
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else None
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection", "accept-encoding")}
        headers["Host"] = upstream.netloc
        for name in ("Origin", "Referer"):
            if name in headers:
                headers[name] = headers[name].replace(self.headers["Host"], upstream.netloc)
        try:
            connection.request(self.command, self.path, body, headers)
            response = connection.getresponse()
        except (OSError, http.client.HTTPException):
            self.close_connection = True
            return None
        self.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() not in ("connection", "transfer-encoding", "content-length", "date", "server"):
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            while chunk := response.read1(65536):
                self.wfile.write(chunk)
                self.wfile.flush()
        except (OSError, http.client.HTTPException):
            pass
        connection.close()
        return None

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--server", default="http://127.0.0.1:8080")
    options.add_argument("--port", type=int, default=0)
    chosen = options.parse_args()
    server = Server(("127.0.0.1", chosen.port), Handler)
    server.upstream = urllib.parse.urlsplit(chosen.server)
    print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
