"""Serves a set of keys by HTTPS with a certificate of an authority that it makes: `keyserver.py FOLDER`.

FOLDER has keys.json, and gets ca.pem and the file port, with the number of the port. It ends when its standard input does.
"""

import datetime
import http.server
import ipaddress
import os
import ssl
import sys
import threading

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

folder = sys.argv[1]


def certificate(name, key, issuer, issuer_key, extension):
    now = datetime.datetime.now(datetime.timezone.utc)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    return (x509.CertificateBuilder().subject_name(subject).issuer_name(issuer or subject).public_key(key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1)).add_extension(extension, True).sign(issuer_key, hashes.SHA256()))


def write(name, *parts):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(b"".join(parts))


root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
root = certificate("authority", root_key, None, root_key, x509.BasicConstraints(True, None))
names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
own = certificate("server", key, root.subject, root_key, names)
pem = serialization.Encoding.PEM
write("ca.pem", root.public_bytes(pem))
write("own.pem", own.public_bytes(pem), key.private_bytes(
    pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))


class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *arguments):
        super().__init__(*arguments, directory=folder)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(os.path.join(folder, "own.pem"))
server.socket = context.wrap_socket(server.socket, server_side=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
write("port.new", str(server.server_port).encode())
os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
sys.stdin.buffer.read()
