"""Makes tokens, good and hostile, with what a server has to say of each: `tokens.py > tokens.json`.

Good ones are made by joserfc; hostile ones are put together by hand, with signatures of cryptography where they have one.
All keys are new in each run and thrown away.
"""

import base64
import hashlib
import hmac
import json
import os
import warnings

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from joserfc import jwe, jwk, jwt

warnings.simplefilter("ignore")

NOW = 1_900_000_000
ISSUER, SECRET_ISSUER, OTHER = "https://issuer.example/", "https://secret.example/", "https://other.example/"


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value, size=None):
    return b64(value.to_bytes(size or (value.bit_length() + 7) // 8, "big"))


class Key:
    """A private key with the functions to sign by hand."""

    def __init__(self, private, kid):
        self.private, self.kid = private, kid

    def sign(self, data, digest=None):
        if isinstance(self.private, rsa.RSAPrivateKey):
            return self.private.sign(data, padding.PKCS1v15(), digest or hashes.SHA256())
        if isinstance(self.private, ed25519.Ed25519PrivateKey):
            return self.private.sign(data)
        r, s = decode_dss_signature(self.der(data, digest))
        size = (self.private.curve.key_size + 7) // 8
        return r.to_bytes(size, "big") + s.to_bytes(size, "big")

    def der(self, data, digest=None):
        return self.private.sign(data, ec.ECDSA(digest or hashes.SHA256()))

    def pem(self):
        return self.private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)

    def spki(self):
        return self.private.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)

    def public(self, **more):
        public = self.private.public_key()
        if isinstance(public, rsa.RSAPublicKey):
            numbers = public.public_numbers()
            key = {"kty": "RSA", "n": number(numbers.n), "e": number(numbers.e)}
        elif isinstance(public, ed25519.Ed25519PublicKey):
            raw = public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
            key = {"kty": "OKP", "crv": "Ed25519", "x": b64(raw)}
        else:
            numbers, size = public.public_numbers(), (public.key_size + 7) // 8
            key = {"kty": "EC", "crv": {256: "P-256", 384: "P-384"}[public.key_size],
                   "x": number(numbers.x, size), "y": number(numbers.y, size)}
        return {**key, **({"kid": self.kid} if self.kid else {}), **more}

    def library(self):
        pem = self.private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        kind = {rsa.RSAPrivateKey: jwk.RSAKey, ed25519.Ed25519PrivateKey: jwk.OKPKey}
        for base, made in kind.items():
            if isinstance(self.private, base):
                return made.import_key(pem)
        return jwk.ECKey.import_key(pem)


def new_rsa(kid, bits=2048):
    return Key(rsa.generate_private_key(65537, bits), kid)


def new_ec(kid, curve=ec.SECP256R1):
    return Key(ec.generate_private_key(curve()), kid)


def new_ed(kid):
    return Key(ed25519.Ed25519PrivateKey.generate(), kid)


RSA, EC, ED = new_rsa("rsa"), new_ec("ec"), new_ed("ed")
UNNAMED, OTHER_KEY, ATTACKER = new_ec(None), new_rsa("rsa"), new_rsa("attacker")
SMALL, P384, FOR_SECRETS = new_rsa("small", 1024), new_ec("p384", ec.SECP384R1), new_rsa("enc")
WRONG_ALG, SIGN_ONLY, LEAKED = new_rsa("rs512"), new_rsa("sign"), new_ec("leaked")
SECRET = base64.b85encode(os.urandom(32))
SHARED = os.urandom(32)

off_curve = new_ec("off").public()
off_curve["y"] = off_curve["x"]
unit = new_rsa("unit").public()
unit["e"] = number(1)
JWKS = {"keys": [
    RSA.public(use="sig", alg="RS256"), EC.public(key_ops=["verify"]), ED.public(alg="EdDSA"), UNNAMED.public(),
    SMALL.public(), P384.public(), FOR_SECRETS.public(use="enc"), WRONG_ALG.public(alg="RS512"),
    SIGN_ONLY.public(key_ops=["sign"]), LEAKED.public(d=number(LEAKED.private.private_numbers().private_value, 32)),
    {"kty": "oct", "kid": "shared", "k": b64(SHARED)}, off_curve, unit,
    {"kty": "EC", "kid": 5, "crv": "P-256"}, {"kty": "later"}, "no key",
]}
CLAIMS = {"iss": ISSUER, "aud": "realm-rest", "sub": "ann", "exp": NOW + 600, "iat": NOW}

cases = []


def case(name, token, outcome, **more):
    cases.append({"name": name, "token": token, "outcome": outcome, **more})


def good(name, token, subject="ann", roles=()):
    case(name, token, "verified", subject=subject, roles=["user", *roles])


def made(key, alg, claims=CLAIMS, header=None, **changes):
    """A token by the library."""
    head = {"alg": alg, **({"kid": key.kid} if key.kid else {}), **(header or {})}
    return jwt.encode(head, {**claims, **changes}, key.library(), algorithms=[alg])


def text(value):
    return value if isinstance(value, bytes) else json.dumps(value).encode()


def raw(header, payload, sign):
    """A token by hand; `header` and `payload` may be bytes of any kind."""
    signed = b64(text(header)) + "." + b64(text(payload))
    return signed + "." + b64(sign(signed.encode()))


def rs(header=None, payload=None, key=RSA):
    return raw({"alg": "RS256", "kid": key.kid} if header is None else header, CLAIMS if payload is None else payload, key.sign)


def without(name):
    return {key: value for key, value in CLAIMS.items() if key != name}


def hs(secret, digest=hashlib.sha256):
    return lambda data: hmac.new(secret, data, digest).digest()


# Good ones.
good("RS256", made(RSA, "RS256"))
good("ES256", made(EC, "ES256"))
good("EdDSA", made(ED, "EdDSA"))
good("EdDSA under the name of its curve", raw({"alg": "Ed25519", "kid": "ed"}, CLAIMS, ED.sign))
good("HS256", jwt.encode({"alg": "HS256"}, {**CLAIMS, "iss": SECRET_ISSUER}, jwk.OctKey.import_key(SECRET)))
good("HS256 with any kid", jwt.encode(
    {"alg": "HS256", "kid": "/dev/null"}, {**CLAIMS, "iss": SECRET_ISSUER}, jwk.OctKey.import_key(SECRET)))
good("a key without a name", made(UNNAMED, "ES256"))
good("a token without kid", made(Key(EC.private, None), "ES256"))
good("a list of audiences", made(RSA, "RS256", aud=["other", "realm-rest"]))
good("roles", made(RSA, "RS256", realm_access={"roles": ["clerk", "clerk", "user"]}), roles=["clerk"])
good("a single role", made(RSA, "RS256", realm_access={"roles": "clerk"}), roles=["clerk"])
good("a role by a name with a dot", made(RSA, "RS256", **{"realm_access.roles": ["dotted"]}), roles=["dotted"])
good("times with fractions", made(RSA, "RS256", exp=NOW + 0.5, nbf=NOW - 0.5))
good("expired within the skew", made(RSA, "RS256", exp=NOW - 59))
good("not yet valid within the skew", made(RSA, "RS256", nbf=NOW + 59))
good("a time far away", made(RSA, "RS256", exp=10**17))
good("a subject with accents", made(RSA, "RS256", sub="Zoë"), subject="Zoë")
good("typ JWT", made(RSA, "RS256", header={"typ": "JWT"}))
good("typ at+jwt", made(RSA, "RS256", header={"typ": "application/at+jwt"}))
good("large within the limit", made(RSA, "RS256", groups=["g" * 50] * 80))
for name, value in [("jku", "https://attacker.example/keys"), ("x5u", "https://attacker.example/cert"), ("x5c", ["AAAA"]),
                    ("jwk", ATTACKER.public())]:
    good(f"{name} is ignored", rs({"alg": "RS256", "kid": "rsa", name: value}))

# No signature.
for alg in ["none", "None", "NONE", "nOnE", "", "null"]:
    head = {"alg": alg, "kid": "rsa"}
    case(f"alg '{alg}' with an empty signature", raw(head, CLAIMS, lambda _: b""), "malformed")
    case(f"alg '{alg}' with a signature", raw(head, CLAIMS, RSA.sign), "algorithm")
case("alg none of a secret", raw({"alg": "none"}, {**CLAIMS, "iss": SECRET_ISSUER}, lambda _: b"x"), "algorithm")
case("no alg", rs({"kid": "rsa"}), "malformed")
for value in [None, 5, ["RS256"], {"RS256": 1}, True]:
    case(f"alg {value!r}", rs({"alg": value, "kid": "rsa"}), "malformed")
case("a signature that is left out", ".".join(rs().split(".")[:2]), "malformed")
case("a signature that is empty", rs().rsplit(".", 1)[0] + ".", "malformed")

# The public key as a secret.
for key in [RSA, EC, ED]:
    for name, secret in [("PEM", key.pem()), ("PEM without its end", key.pem().rstrip()), ("DER", key.spki()),
                         ("JWK", json.dumps(key.public()).encode()), ("x or n", key.public().get("n", key.public().get("x")).encode()),
                         ("nothing", b"")]:
        case(f"HS256 with {name} of '{key.kid}'", raw({"alg": "HS256", "kid": key.kid}, CLAIMS, hs(secret)), "algorithm")
case("HS256 with a secret in the set", raw({"alg": "HS256", "kid": "shared"}, CLAIMS, hs(SHARED)), "algorithm")
case("HS256 with nothing, of a secret", raw({"alg": "HS256"}, {**CLAIMS, "iss": SECRET_ISSUER}, hs(b"")), "signature")
case("HS256 of the wrong secret", raw({"alg": "HS256"}, {**CLAIMS, "iss": SECRET_ISSUER}, hs(SHARED)), "signature")
case("RS256 of an issuer with a secret", rs(payload={**CLAIMS, "iss": SECRET_ISSUER}), "algorithm")
case("HS256 cut off", raw({"alg": "HS256"}, {**CLAIMS, "iss": SECRET_ISSUER}, lambda d: hs(SECRET)(d)[:16]), "signature")

# Other algorithms.
for alg, digest in [("HS384", hashlib.sha384), ("HS512", hashlib.sha512)]:
    case(alg, raw({"alg": alg}, {**CLAIMS, "iss": SECRET_ISSUER}, hs(SECRET, digest)), "algorithm")
for alg, digest in [("RS384", hashes.SHA384()), ("RS512", hashes.SHA512())]:
    case(alg, raw({"alg": alg, "kid": "rsa"}, CLAIMS, lambda data, d=digest: RSA.sign(data, d)), "algorithm")
case("PS256", jwt.encode({"alg": "PS256", "kid": "rsa"}, CLAIMS, RSA.library(), algorithms=["PS256"]), "algorithm")
case("ES384", raw({"alg": "ES384", "kid": "p384"}, CLAIMS, lambda d: P384.sign(d, hashes.SHA384())), "algorithm")
case("alg in other capitals", rs({"alg": "rs256", "kid": "rsa"}), "algorithm")
case("RS1", rs({"alg": "RS1", "kid": "rsa"}), "algorithm")
for alg, key in [("RS256", EC), ("RS256", ED), ("ES256", RSA), ("ES256", ED), ("EdDSA", RSA), ("EdDSA", EC)]:
    case(f"{alg} with the key '{key.kid}'", raw({"alg": alg, "kid": key.kid}, CLAIMS, key.sign), "key")

# Names of keys.
for kid in ["", "../../../../dev/null", "/dev/null", "/proc/self/environ", "rsa' OR '1'='1", "x' UNION SELECT 'key';--", "RSA",
            "rsa ", "rsa\0", "r\u017fa", "|id", "http://127.0.0.1:1/keys", "*", "attacker"]:
    case(f"kid {kid!r}", rs({"alg": "RS256", "kid": kid}), "key")
    case(f"kid {kid!r} of an attacker", rs({"alg": "RS256", "kid": kid}, key=ATTACKER), "key")
for kid in [5, None, ["rsa"], {"rsa": 1}, False]:
    case(f"kid {kid!r}", rs({"alg": "RS256", "kid": kid}), "malformed")
case("kid of the null file with nothing as the secret", raw({"alg": "HS256", "kid": "/dev/null"}, CLAIMS, hs(b"")), "algorithm")

# Keys that come with the token.
for name, value in [("jku", "https://attacker.example/keys"), ("x5u", "https://attacker.example/cert"),
                    ("x5c", [base64.b64encode(ATTACKER.spki()).decode()]), ("jwk", ATTACKER.public())]:
    case(f"{name} with the name of another key", rs({"alg": "RS256", "kid": "rsa", name: value}, key=ATTACKER), "signature")
    case(f"{name} with its own name", rs({"alg": "RS256", "kid": "attacker", name: value}, key=ATTACKER), "key")
    case(f"{name} without a name", rs({"alg": "RS256", name: value}, key=ATTACKER), "signature")

# Keys that are not for this.
for key in [SMALL, FOR_SECRETS, WRONG_ALG, SIGN_ONLY]:
    case(f"the key '{key.kid}'", rs(key=key), "key")
case("the key 'leaked'", raw({"alg": "ES256", "kid": "leaked"}, CLAIMS, LEAKED.sign), "key")
case("the key 'p384'", raw({"alg": "ES256", "kid": "p384"}, CLAIMS, P384.sign), "key")
case("the key 'off'", raw({"alg": "ES256", "kid": "off"}, CLAIMS, EC.sign), "key")
case("the key 'unit'", rs({"alg": "RS256", "kid": "unit"}), "key")
case("the key of another issuer", rs(key=OTHER_KEY), "signature")
case("an issuer's key for another issuer", rs(payload={**CLAIMS, "iss": OTHER}), "signature")

# Headers that ask for more.
for name, value in [("crit", ["exp"]), ("crit", []), ("crit", ["b64"]), ("crit", None), ("b64", False), ("b64", True),
                    ("zip", "DEF"), ("enc", "A256GCM"), ("cty", "JWT"), ("cty", "jwt"), ("cty", "application/jwt"), ("cty", 5),
                    ("typ", "JWE"), ("typ", "logout+jwt"), ("typ", "application/DPoP+JWT"), ("typ", "secevent+jwt"), ("typ", 5)]:
    case(f"{name} {value!r}", rs({"alg": "RS256", "kid": "rsa", name: value}), "malformed")
case("crit with what it names", rs({"alg": "RS256", "kid": "rsa", "crit": ["exp"], "exp": NOW + 600}), "malformed")
nested = rs()
case("a token in a token", rs({"alg": "RS256", "kid": "rsa", "cty": "JWT"}, nested.encode()), "malformed")
case("an encrypted token", jwe.encrypt_compact(
    {"alg": "RSA-OAEP", "enc": "A256GCM", "kid": "rsa"}, json.dumps(CLAIMS), jwk.RSAKey.import_key(RSA.pem())), "malformed")
head, body, signature = rs().split(".")
case("the form in JSON", json.dumps({"payload": body, "protected": head, "signature": signature}), "malformed")

# Sizes.
case("more than 8 KiB", rs(payload={**CLAIMS, "x": "y" * 8000}), "too_long")
case("more than 8 KiB in the header", rs({"alg": "RS256", "kid": "k" * 8000}), "too_long")
case("more than 8 KiB of signature", rs() + "A" * 8000, "too_long")
case("deep", rs(payload=text(CLAIMS)[:-1] + b', "x": ' + b"[" * 1000 + b"]" * 1000 + b"}"), "malformed")
case("deep in the header", rs(b'{"alg":"RS256","kid":"rsa","x":' + b"[" * 500 + b"]" * 500 + b"}"), "malformed")
case("many values", rs(payload=text(CLAIMS)[:-1] + b', "x": [' + b",".join([b"1"] * 2600) + b"]}"), "verified",
     subject="ann", roles=["user"])
case("many values in the header", rs(b'{"alg":"RS256","kid":"rsa","x":[' + b",".join([b"1"] * 500) + b"]}"), "malformed")

# Times.
case("a future nbf", rs(payload={**CLAIMS, "nbf": NOW + 61}), "early")
case("a far future nbf", rs(payload={**CLAIMS, "nbf": 10**15}), "early")
case("expired", rs(payload={**CLAIMS, "exp": NOW - 60}), "expired")
case("expired long ago", rs(payload={**CLAIMS, "exp": -5}), "expired")
case("without exp", rs(payload=without("exp")), "expired")
for name in ["exp", "nbf", "iat"]:
    for value in [str(NOW + 600), None, True, [NOW + 600], {"time": NOW}]:
        case(f"{name} {value!r}", rs(payload={**CLAIMS, name: value}), "claims")
case("exp without end", rs(payload=text(without("exp"))[:-1] + b', "exp": 1e999}'), "claims")
case("exp of many digits", rs(payload=text(without("exp"))[:-1] + b', "exp": ' + b"9" * 400 + b"}"), "claims")
case("exp that is no number in JSON", rs(payload=text(without("exp"))[:-1] + b', "exp": Infinity}'), "malformed")

# Audiences.
for value in ["other", "REALM-REST", "realm-rest2", "realm", "", " realm-rest", 5, True, None, {"realm-rest": True},
              [["realm-rest"]], ["realm-rest", 5], ["realm-rest", None], [], ["other"], "realm-rest,other", "*"]:
    case(f"aud {value!r}", rs(payload={**CLAIMS, "aud": value}), "audience")
case("without aud", rs(payload=without("aud")), "audience")

# Issuers.
for value in ["https://issuer.example", "https://ISSUER.example/", "https://issuer.example//", "", 5, None, [ISSUER], {ISSUER: 1},
              ISSUER + "\0", "http://issuer.example/", "*"]:
    case(f"iss {value!r}", rs(payload={**CLAIMS, "iss": value}), "issuer")
case("without iss", rs(payload=without("iss")), "issuer")

# Members that come twice.
for member in ['"sub":"root"', '"aud":"other"', '"exp":9999999999', '"iss":"x"', '"s\\u0075b":"root"', '"realm_access":{}']:
    doubled = json.dumps({**CLAIMS, "realm_access": {"roles": ["clerk"]}})
    case(f"a claim that comes twice: {member}", rs(payload=(doubled[:-1] + "," + member + "}").encode()), "malformed")
    case(f"a claim that came before: {member}", rs(payload=("{" + member + "," + doubled[1:]).encode()), "malformed")
case("a claim inside that comes twice", rs(payload=text(CLAIMS)[:-1] + b',"realm_access":{"roles":["a"],"roles":["b"]}}'), "malformed")
for member in ['"alg":"none"', '"alg":"HS256"', '"kid":"attacker"', '"\\u0061lg":"none"', '"typ":"JWT","typ":"JWT"']:
    case(f"a header that has {member} twice", rs(('{"alg":"RS256","kid":"rsa",' + member + "}").encode()), "malformed")
    case(f"a header that had {member}", rs(("{" + member + ',"alg":"RS256","kid":"rsa"}').encode()), "malformed")

# Subjects and roles.
for value in [5, None, "", ["ann"], {"id": "ann"}, True]:
    case(f"sub {value!r}", rs(payload={**CLAIMS, "sub": value}), "claims")
case("without sub", rs(payload=without("sub")), "claims")
for value in [5, None, True, {"admin": True}, ["clerk", 5], [["clerk"]], ["clerk", None]]:
    case(f"roles {value!r}", rs(payload={**CLAIMS, "realm_access": {"roles": value}}), "claims")

# Signatures.
es = raw({"alg": "ES256", "kid": "ec"}, CLAIMS, EC.sign)
order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551
for name, made_by in [("of zeros", lambda _: bytes(64)), ("DER", EC.der), ("r only", lambda d: EC.sign(d)[:32] + bytes(32)),
                      ("of orders", lambda _: order.to_bytes(32, "big") * 2), ("too long", lambda d: EC.sign(d) + b"\0"),
                      ("too short", lambda d: EC.sign(d)[:63])]:
    case(f"ES256 {name}", raw({"alg": "ES256", "kid": "ec"}, CLAIMS, made_by), "signature")
for name, made_by in [("of zeros", lambda _: bytes(256)), ("of ones", lambda _: bytes(255) + b"\1"), ("cut off", lambda d: RSA.sign(d)[:255]),
                      ("with a zero before", lambda d: b"\0" + RSA.sign(d)), ("of PSS", lambda d: RSA.private.sign(
                          d, padding.PSS(padding.MGF1(hashes.SHA256()), 32), hashes.SHA256())),
                      ("of SHA-1", lambda d: RSA.sign(d, hashes.SHA1()))]:
    case(f"RS256 {name}", raw({"alg": "RS256", "kid": "rsa"}, CLAIMS, made_by), "signature")
case("EdDSA of zeros", raw({"alg": "EdDSA", "kid": "ed"}, CLAIMS, lambda _: bytes(64)), "signature")
flipped = bytearray(RSA.sign((head + "." + body).encode()))
flipped[100] ^= 1
case("a flipped bit", head + "." + body + "." + b64(bytes(flipped)), "signature")
case("the payload of another", head + "." + b64(text({**CLAIMS, "sub": "root"})) + "." + signature, "signature")
case("the header of another", b64(text({"alg": "RS256", "kid": "rsa", "x": 1})) + "." + body + "." + signature, "signature")

# Texts that mean the same to some.
last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
stray = signature[:-1] + last[last.index(signature[-1]) | 1 if last.index(signature[-1]) % 2 == 0 else last.index(signature[-1]) - 1]
for name, token in [("padding", rs() + "=="), ("stray bits", f"{head}.{body}.{stray}"), ("a space in front", " " + rs()),
                    ("a line break at the end", rs() + "\n"), ("a space inside", f"{head}. {body}.{signature}"),
                    ("a fourth part", rs() + ".x"), ("an empty fourth part", rs() + "."), ("a part in front", "." + rs()),
                    ("four parts of a token", f"{head}.{body}.{body}.{signature}"), ("nothing", ""), ("dots", ".."),
                    ("a NUL", rs() + "\0"), ("Bearer", "Bearer " + rs()), ("letters", "abc"),
                    ("the other alphabet", f"{head}.{body}." + "+/" + signature[2:])]:
    case(f"a text with {name}", token, "malformed")
for name, payload in [("a list", b"[1]"), ("a text", b'"x"'), ("null", b"null"), ("no JSON", b"{"), ("more behind", text(CLAIMS) + b"{}"),
                      ("a mark in front", b"\xef\xbb\xbf" + text(CLAIMS)), ("bad UTF-8", text(CLAIMS)[:-1] + b',"x":"\xff"}'),
                      ("a lone surrogate", text(CLAIMS)[:-1] + b',"x":"\\ud800"}'), ("a comment", b"/**/" + text(CLAIMS))]:
    case(f"a payload of {name}", rs(payload=payload), "malformed")
for name, header in [("a list", b"[1]"), ("a text", b'"RS256"'), ("no JSON", b"RS256"), ("more behind", b'{"alg":"RS256","kid":"rsa"}x')]:
    case(f"a header of {name}", rs(header), "malformed")

# Two sets of keys, one after the other, with tokens for them that do not expire.
turns = []
for kid in ["first", "second"]:
    key = new_ec(kid)
    tokens = [made(key, "ES256", sub=f"{kid}-{index}", exp=NOW + 10**8) for index in range(16)]
    turns.append({"jwks": json.dumps({"keys": [key.public()]}), "tokens": tokens})

lines = ",\n".join(json.dumps(case) for case in cases)
rest = json.dumps({"now": NOW, "jwks": json.dumps(JWKS), "otherJwks": json.dumps({"keys": [OTHER_KEY.public()]}),
                   "secret": SECRET.decode(), "turns": turns})
print(rest[:-1] + ', "cases": [\n' + lines + "\n]}")
