#ifndef REALM_REST_COPENSSL_SHIM_H
#define REALM_REST_COPENSSL_SHIM_H
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

/* The parts of a public key, a macro of macros that Swift does not see. */
enum { realm_rest_public_key = EVP_PKEY_PUBLIC_KEY };
#endif
