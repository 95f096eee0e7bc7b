// SPDX-License-Identifier: Apache-2.0

/// The use of GnuTLS next to libmicrohttpd: certificates that are chosen by name and replaced while connections stay, the
/// certificates of clients, and answers to clients that send plain HTTP.
///
/// It is in C because the library passes arrays of structures whose owner depends on the call.
#ifndef REALM_REST_TLS_H
#define REALM_REST_TLS_H

#include <stddef.h>
#include <stdint.h>

/// A chain of certificates with its private key. It never changes, so any thread may use it.
typedef struct realm_rest_identity realm_rest_identity;

/// Reads a chain, the server's own certificate first, and its key, both PEM. NULL when they cannot be used; `failure`, of
/// `room` bytes, then says why.
realm_rest_identity *realm_rest_identity_new (const uint8_t *chain, size_t chain_size, const uint8_t *key, size_t key_size,
                                              char *failure, size_t room);

/// To be called when no handshake can use it any more.
void realm_rest_identity_free (realm_rest_identity *identity);

/// When the first certificate of the chain to do so expires, and when its own begins to hold: seconds since 1970.
int64_t realm_rest_identity_expiry (const realm_rest_identity *identity);
int64_t realm_rest_identity_beginning (const realm_rest_identity *identity);

/// Writes the name of a number, counted from 0: a DNS name or an address. Returns its length; 0 when there is none.
size_t realm_rest_identity_name (const realm_rest_identity *identity, unsigned int number, char *name, size_t room);

/// The SHA-256 digest of the certificate.
int realm_rest_identity_digest (const realm_rest_identity *identity, uint8_t digest[32]);

/// Makes a certificate that is signed by its own key, for names and addresses that are separated by line feeds. Returns the
/// length of the PEM text of both, 0 when that fails.
size_t realm_rest_make_certificate (const char *names, int64_t now, int64_t seconds, char *text, size_t room);

/// The certificates of authorities that clients are compared with. They never change.
typedef struct realm_rest_authorities realm_rest_authorities;

realm_rest_authorities *realm_rest_authorities_new (const uint8_t *text, size_t size, char *failure, size_t room);
void realm_rest_authorities_free (realm_rest_authorities *authorities);

/// The facts in the certificate of a client. Texts that do not fit or have control characters are left out.
struct realm_rest_peer {
  int is_verified;
  int64_t expiry;
  char subject[1024];
  /// Lines of a kind and a name: DNS:a.example, EMAIL:a@b.example, URI:urn:x, IP:192.0.2.1.
  char names[4096];
};

/// Whether the client of a session has sent a certificate, which is then compared with the authorities.
int realm_rest_session_peer (void *session, const realm_rest_authorities *authorities, struct realm_rest_peer *peer);

/// Asks the client of a session for a certificate without demanding one. Call it before the handshake.
void realm_rest_session_ask (void *session);

/// Sends last bytes and says that no more follow, without waiting. Only on the thread that serves the connection.
void realm_rest_session_finish (void *session, const uint8_t *bytes, size_t size);

/// Chooses the identity for a connection, whose context is that of the connection in libmicrohttpd. The name is that which the
/// client asks for, or NULL. The identity has to stay until the connection is closed.
typedef const realm_rest_identity *(*realm_rest_choice) (void *connection_context, const char *name);

/// Answers a client that sends HTTP in clear, on the socket of the connection with this context. It is called on the thread that
/// serves the connection, whose handshake fails then.
typedef void (*realm_rest_plain) (void *connection_context);

/// Sets who chooses and who answers, once, before a daemon is started.
void realm_rest_set_callbacks (realm_rest_choice choice, realm_rest_plain plain);

/// Examines the first byte from the client. Call it before the handshake.
void realm_rest_session_notice_plain (void *session);

/// Whether a file can be read, written or used by users who are neither its owner nor in its group.
int realm_rest_is_open_to_others (const char *path);

/// The value of the option MHD_OPTION_HTTPS_CERT_CALLBACK.
void *realm_rest_certificate_callback (void);

#endif
