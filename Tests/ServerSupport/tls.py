#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A client that does over TLS what libraries do not: it sends what is no request, sends slowly, and holds many streams.

tls.py PORT ACTION [ARGUMENT]; what it sees is printed. Certificates are not checked.
"""
import socket
import ssl
import sys
import time


def connect(port, name="localhost"):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    plain = socket.create_connection(("127.0.0.1", port), timeout=60)
    return context.wrap_socket(plain, server_hostname=name)


def read_all(connection):
    """Everything until the end, and how it ended."""
    data = b""
    try:
        while True:
            piece = connection.recv(65536)
            if not piece:
                return data, "end"
            data += piece
    except ssl.SSLEOFError:
        return data, "end"
    except ConnectionResetError:
        return data, "reset"
    except ssl.SSLError as error:
        return data, "broken: " + str(error.reason)


def report(connection):
    data, end = read_all(connection)
    sys.stdout.write(data.decode("latin-1") + "\n--" + end + "\n")


def raw(port, text):
    """Sends bytes, with \\r and \\n as escapes, and shows the answer."""
    connection = connect(port)
    connection.sendall(text.encode().decode("unicode_escape").encode("latin-1"))
    report(connection)


def long(port, path):
    """Sends a body in chunks that does not end before the server says something."""
    connection = connect(port)
    connection.sendall(
        ("POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n" % path)
        .encode())
    piece = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    try:
        for _ in range(160):
            connection.sendall(piece)
    except (OSError, ssl.SSLError):
        pass
    report(connection)


def silent(port, _):
    """Ends the handshake and sends nothing; tells for how long."""
    begin = time.time()
    _, end = read_all(connect(port))
    print("%s after %.1f" % (end, time.time() - begin))


def slow(port, name):
    """Shakes hands with each byte in a packet of its own, and shows the answer to a request."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    plain = socket.create_connection(("127.0.0.1", port), timeout=60)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    received, to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
    connection = context.wrap_bio(received, to_send, server_hostname=name)

    def send():
        for byte in to_send.read():
            plain.sendall(bytes([byte]))
            time.sleep(0.001)

    while True:
        try:
            connection.do_handshake()
            break
        except ssl.SSLWantReadError:
            send()
            received.write(plain.recv(65536))
    connection.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    send()
    while True:
        try:
            print(connection.read(65536).decode("latin-1"))
            break
        except ssl.SSLWantReadError:
            received.write(plain.recv(65536))


def hold(port, argument):
    """Holds streams of a path; for each line of input it tells how many of them have got an event since."""
    count, path = argument.split(" ", 1)
    streams = []
    for _ in range(int(count)):
        connection = connect(port)
        request = "GET %s HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n" % path
        connection.sendall(request.encode())
        text = b""
        while b"\nevent:" not in text and b"\nid:" not in text:
            piece = connection.recv(65536)
            if not piece:
                print("closed: " + text.decode("latin-1"), flush=True)
                return
            text += piece
        streams.append(connection)
    print("ready", flush=True)
    for line in sys.stdin:
        alive = 0
        for connection in streams:
            text = b""
            try:
                while line.strip().encode() not in text:
                    piece = connection.recv(65536)
                    if not piece:
                        break
                    text += piece
                else:
                    alive += 1
            except (OSError, ssl.SSLError):
                pass
        print(alive, flush=True)


if __name__ == "__main__":
    ACTIONS = {"raw": raw, "long": long, "silent": silent, "slow": slow, "hold": hold}
    ACTIONS[sys.argv[2]](int(sys.argv[1]), sys.argv[3] if len(sys.argv) > 3 else "")
