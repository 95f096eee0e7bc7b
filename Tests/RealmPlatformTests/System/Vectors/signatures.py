"""Writes signatures with what has to be said of each: `signatures.py WYCHEPROOF COOKBOOK > signatures.txt`.

Most are of Wycheproof (github.com/C2SP/wycheproof, Apache-2.0), the others are the examples of RFC 7515, 7520 and 8037. WYCHEPROOF is
its folder testvectors_v1, COOKBOOK the folder jws of github.com/ietf-jose/cookbook.
"""

import base64
import json
import pathlib
import sys

WYCHEPROOF, COOKBOOK = map(pathlib.Path, sys.argv[1:])
FILES = ["rsa_signature_2048_sha256", "ecdsa_secp256r1_sha256_p1363", "ed25519", "hmac_sha256"]

# RFC 7515, A.1 to A.3, and RFC 8037, A.4: headers, payload, keys and signatures.
CLAIMS = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
EXAMPLES = [
    ("RFC 7515, A.1", "hmac AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow",
     "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9." + CLAIMS, "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
    ("RFC 7515, A.2",
     "rsa ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_"
     "YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3"
     "qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ AQAB",
     "eyJhbGciOiJSUzI1NiJ9." + CLAIMS,
     "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYN"
     "X4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7no"
     "OPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"),
    ("RFC 7515, A.3", "p256 f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
     "eyJhbGciOiJFUzI1NiJ9." + CLAIMS, "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"),
    ("RFC 8037, A.4", "ed25519 11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
     "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
     "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"),
]
for title, name in [("RFC 7520, 4.1", "4_1.rsa_v15_signature"), ("RFC 7520, 4.4", "4_4.hmac-sha2_integrity_protection")]:
    example = json.loads((COOKBOOK / (name + ".json")).read_text())
    key = example["input"]["key"]
    signed, signature = example["output"]["compact"].rsplit(".", 1)
    EXAMPLES.append((title, f"rsa {key['n']} {key['e']}" if key["kty"] == "RSA" else "hmac " + key["k"], signed, signature))


def text(data):
    """Bytes as base64, or a full stop for none."""
    data = bytes.fromhex(data) if isinstance(data, str) else data
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode() or "."


def key_line(group, test):
    """A key as a word and its numbers."""
    if group["type"] == "MacTest":
        return "hmac " + text(test["key"])
    key = group["publicKey"]
    if group["type"] == "EddsaVerify":
        return "ed25519 " + text(key["pk"])
    if group["type"] == "EcdsaP1363Verify":
        return "p256 " + " ".join(text(int(key[name], 16).to_bytes(32, "big")) for name in ("wx", "wy"))
    return f"rsa {text(key['modulus'])} {text(key['publicExponent'])}"


print("# Written by signatures.py, which names the sources: a key, then its signatures as outcome, message, signature, comment.")
last = None
for title, key, signed, signature in EXAMPLES:
    print(key, f"valid {text(signed.encode())} {signature} {title}", sep="\n")
for name in FILES:
    for group in json.loads((WYCHEPROOF / (name + "_test.json")).read_text())["testGroups"]:
        for test in group["tests"]:
            line = key_line(group, test)
            if line != last:
                print(line)
            last = line
            # "acceptable" are forms of old programs, which are refused here; so is a code that was cut off.
            good = test["result"] == "valid" and group.get("tagSize", 256) == 256
            print("valid" if good else "invalid", text(test["msg"]), text(test.get("sig", test.get("tag"))), name, test["tcId"],
                  test["comment"])
