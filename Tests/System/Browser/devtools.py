# SPDX-License-Identifier: Apache-2.0
"""Drives Chromium by its DevTools protocol, with nothing but the standard library."""

import base64
import itertools
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request


class WebSocket:
    """A client's side of RFC 6455, as far as DevTools needs it: text messages, whole or in parts."""

    def __init__(self, host, port, path):
        self.socket = socket.create_connection((host, port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self.buffer += self.socket.recv(4096)
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        if b" 101 " not in head:
            raise RuntimeError(head.decode(errors="replace"))

    def send(self, text):
        payload = text.encode()
        size = len(payload)
        head = b"\x81"
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 65536:
            head += b"\xfe" + struct.pack(">H", size)
        else:
            head += b"\xff" + struct.pack(">Q", size)
        mask = os.urandom(4)
        self.socket.sendall(head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload)))

    def _take(self, count):
        while len(self.buffer) < count:
            piece = self.socket.recv(65536)
            if not piece:
                raise EOFError("the browser closed the connection")
            self.buffer += piece
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def receive(self):
        message = b""
        while True:
            first, second = self._take(2)
            size = second & 0x7f
            if size == 126:
                size = struct.unpack(">H", self._take(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self._take(8))[0]
            payload = self._take(size)
            if first & 0x0f in (0, 1, 2):
                message += payload
                if first & 0x80:
                    return message.decode()


class Tab:
    """One page of the browser."""

    def __init__(self, browser, target):
        path = target["webSocketDebuggerUrl"].split("/", 3)[3]
        self.browser = browser
        self.id = target["id"]
        self.channel = WebSocket("127.0.0.1", browser.port, "/" + path)
        self.numbers = itertools.count(1)
        self.call("Page.enable")
        self.call("Runtime.enable")

    def call(self, method, **parameters):
        number = next(self.numbers)
        self.channel.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.channel.receive())
            if message.get("method") == "Page.javascriptDialogOpening":
                self.channel.send(json.dumps({"id": 0, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}))
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    def open(self, url):
        """As when a person types the address."""
        self.call("Page.navigate", url=url, transitionType="typed")
        for _ in range(200):
            if self.run("document.readyState") == "complete" and self.run("location.href") != "about:blank":
                return
            time.sleep(0.05)

    def run(self, script):
        """The value of a script, as JSON; a promise is waited for."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:500])
        return result["result"].get("value")


class Browser:
    def __init__(self, executable, hosts):
        self.folder = tempfile.mkdtemp(prefix="realm-rest-browser-")
        self.process = subprocess.Popen(
            [executable, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-popup-blocking", "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--no-proxy-server", "--mute-audio", "--autoplay-policy=no-user-gesture-required",
             # A browser that would ask its user before pages reach this machine must not make the trial easier.
             "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable",
             "--host-resolver-rules=" + ", ".join(f"MAP {name} 127.0.0.1" for name in hosts),
             "--remote-debugging-port=0", f"--user-data-dir={self.folder}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.port = self._port()

    def _port(self):
        path = os.path.join(self.folder, "DevToolsActivePort")
        for _ in range(600):
            if os.path.exists(path) and (lines := open(path).read().split("\n"))[0]:
                return int(lines[0])
            if self.process.poll() is not None:
                raise RuntimeError("the browser ended")
            time.sleep(0.1)
        raise RuntimeError("the browser does not listen")

    def tab(self):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/json/new?about:blank", method="PUT")
        return Tab(self, json.load(urllib.request.urlopen(request, timeout=60)))

    def close(self, tab):
        urllib.request.urlopen(f"http://127.0.0.1:{self.port}/json/close/{tab.id}", timeout=60).read()

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
