"""Three operations of the interface with Python's own HTTP server: the list of files, one file, and a web search."""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

KEY = os.environ.get("API_KEY", "the-key-of-this-example")
FILES = [{"id": "a.pdf"}, {"id": "b.txt"}]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # a response is written at once

    def do_GET(self):
        self.answer(self.get)

    def do_POST(self):
        self.answer(self.post)

    def answer(self, operation):
        # The body is read first, whatever the answer is: else it would be taken for the next request.
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Authorization") != f"Bearer {KEY}":
            self.refuse(401, "BadCredentials", "The key is missing, or is not ours")
        else:
            operation(urlsplit(self.path), body)

    def get(self, url, _body):
        if url.path == "/v1/files":
            types = parse_qs(url.query).get("file_types", [""])[0].split(",")
            found = [file for file in FILES if types == [""] or file["id"].split(".")[-1] in types]
            return self.send(200, {"files": found})
        if not url.path.startswith("/v1/files/"):
            return self.refuse(404, "NotFound", "There is no such operation")
        name = unquote(url.path.removeprefix("/v1/files/"))
        for file in FILES:
            if file["id"] == name:
                return self.send(200, file)
        return self.refuse(404, "ResourceNotFound", "There is no such file")

    def post(self, url, body):
        if url.path != "/v1/tools/web-search":
            return self.refuse(404, "NotFound", "There is no such operation")
        if self.headers.get_content_type() != "application/json":
            return self.refuse(400, "InvalidContentType", "Send JSON")
        try:
            # Python takes NaN and Infinity, which are no JSON.
            sent = json.loads(body, parse_constant=self.no_json)
        except (ValueError, RecursionError):  # the latter: nested deeper than Python reads
            return self.refuse(400, "InvalidContentType", "This is not JSON")
        query = sent.get("query") if isinstance(sent, dict) else None
        if not isinstance(query, str) or query == "":
            return self.refuse(400, "BadRequest", "Send a query")
        return self.send(200, {"results": [{"title": f"All about {query}"}]})

    @staticmethod
    def no_json(name):
        raise ValueError(name)

    def refuse(self, status, tpe, description):
        self.send(status, {"tpe": tpe, "errors": [{"description": description}], "extras": {}})

    def send(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8765
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
