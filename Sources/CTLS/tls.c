// SPDX-License-Identifier: Apache-2.0

#include "tls.h"
#include <arpa/inet.h>
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { chain_limit = 16, authority_limit = 4096 };

struct realm_rest_identity {
  gnutls_pcert_st chain[chain_limit];
  unsigned int count;
  gnutls_privkey_t key;
  /* The first certificate of the chain, for its names. */
  gnutls_x509_crt_t own;
  int64_t beginning;
  int64_t expiry;
};

static void
explain (char *failure, size_t room, const char *what, int code)
{
  snprintf (failure, room, code ? "%s: %s" : "%s", what, code ? gnutls_strerror (code) : "");
}

/* Reads the certificates of a chain, and when all of them hold. */
static int
read_chain (realm_rest_identity *identity, const gnutls_datum_t *text)
{
  gnutls_x509_crt_t certificates[chain_limit];
  unsigned int count = chain_limit;
  int code = gnutls_x509_crt_list_import (certificates, &count, text, GNUTLS_X509_FMT_PEM,
                                          GNUTLS_X509_CRT_LIST_IMPORT_FAIL_IF_EXCEED);
  if (code < 0)
    return code;
  if (count == 0)
    return GNUTLS_E_NO_CERTIFICATE_FOUND;
  code = 0;
  for (unsigned int index = 0; index < count && code == 0; index++)
    {
      int64_t expiry = gnutls_x509_crt_get_expiration_time (certificates[index]);
      if (index == 0 || expiry < identity->expiry)
        identity->expiry = expiry;
      code = gnutls_pcert_import_x509 (&identity->chain[index], certificates[index], 0);
      if (code == 0)
        identity->count++;
    }
  identity->beginning = gnutls_x509_crt_get_activation_time (certificates[0]);
  identity->own = certificates[0];
  for (unsigned int index = 1; index < count; index++)
    gnutls_x509_crt_deinit (certificates[index]);
  return code;
}

/* Whether the key is that of the first certificate: both have the same public part. */
static int
is_pair (const realm_rest_identity *identity)
{
  gnutls_pubkey_t of_key = NULL;
  unsigned char one[64], other[64];
  size_t one_size = sizeof (one), other_size = sizeof (other);
  int is_same = 0 == gnutls_pubkey_init (&of_key) && 0 == gnutls_pubkey_import_privkey (of_key, identity->key, 0, 0)
    && 0 == gnutls_pubkey_get_key_id (of_key, GNUTLS_KEYID_USE_SHA256, one, &one_size)
    && 0 == gnutls_x509_crt_get_key_id (identity->own, GNUTLS_KEYID_USE_SHA256, other, &other_size)
    && one_size == other_size && 0 == memcmp (one, other, one_size);
  if (of_key)
    gnutls_pubkey_deinit (of_key);
  return is_same;
}

realm_rest_identity *
realm_rest_identity_new (const uint8_t *chain, size_t chain_size, const uint8_t *key, size_t key_size, char *failure, size_t room)
{
  realm_rest_identity *identity = calloc (1, sizeof (*identity));
  gnutls_datum_t chain_text = { (unsigned char *) chain, (unsigned int) chain_size };
  gnutls_datum_t key_text = { (unsigned char *) key, (unsigned int) key_size };
  if (identity == NULL)
    {
      explain (failure, room, "there is no memory left", 0);
      return NULL;
    }
  int code = read_chain (identity, &chain_text);
  if (code != 0)
    explain (failure, room, "the certificate cannot be read", code);
  else if (0 != (code = gnutls_privkey_init (&identity->key))
           || 0 != (code = gnutls_privkey_import_x509_raw (identity->key, &key_text, GNUTLS_X509_FMT_PEM, NULL, 0)))
    explain (failure, room, "the key cannot be read", code);
  else if (!is_pair (identity))
    explain (failure, room, "the key does not belong to the certificate", 0);
  else
    return identity;
  realm_rest_identity_free (identity);
  return NULL;
}

void
realm_rest_identity_free (realm_rest_identity *identity)
{
  for (unsigned int index = 0; index < identity->count; index++)
    gnutls_pcert_deinit (&identity->chain[index]);
  if (identity->key)
    gnutls_privkey_deinit (identity->key);
  if (identity->own)
    gnutls_x509_crt_deinit (identity->own);
  free (identity);
}

int64_t
realm_rest_identity_expiry (const realm_rest_identity *identity)
{
  return identity->expiry;
}

int64_t
realm_rest_identity_beginning (const realm_rest_identity *identity)
{
  return identity->beginning;
}

/* Whether a text can be shown: not empty, and without control characters, which could be taken for the end of a name. */
static int
is_text (const char *text, size_t size)
{
  for (size_t index = 0; index < size; index++)
    if ((unsigned char) text[index] < 0x20 || text[index] == 0x7f)
      return 0;
  return size > 0;
}

/* Writes an alternative name of a certificate as text with its kind in front, if that is wanted. Returns 0 when there are no
   more names, and -1 when this one cannot be written. */
static int
alternative_name (gnutls_x509_crt_t certificate, unsigned int number, int has_kind, char *name, size_t room)
{
  char value[1024];
  size_t size = sizeof (value);
  unsigned int is_critical;
  int kind = gnutls_x509_crt_get_subject_alt_name (certificate, number, value, &size, &is_critical);
  if (kind == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
    return 0;
  char address[INET6_ADDRSTRLEN];
  const char *text = value;
  const char *prefix = "";
  switch (kind)
    {
    case GNUTLS_SAN_DNSNAME: prefix = "DNS:"; break;
    case GNUTLS_SAN_RFC822NAME: prefix = "EMAIL:"; break;
    case GNUTLS_SAN_URI: prefix = "URI:"; break;
    case GNUTLS_SAN_IPADDRESS:
      prefix = "IP:";
      text = inet_ntop (size == 4 ? AF_INET : AF_INET6, value, address, sizeof (address));
      if ((size != 4 && size != 16) || text == NULL)
        return -1;
      size = strlen (text);
      break;
    default: return -1;
    }
  if (!has_kind && kind != GNUTLS_SAN_DNSNAME && kind != GNUTLS_SAN_IPADDRESS)
    return -1;
  if (!is_text (text, size))
    return -1;
  int length = snprintf (name, room, "%s%.*s", has_kind ? prefix : "", (int) size, text);
  return length > 0 && (size_t) length < room ? length : -1;
}

size_t
realm_rest_identity_name (const realm_rest_identity *identity, unsigned int number, char *name, size_t room)
{
  unsigned int position = 0;
  unsigned int found = 0;
  for (int length; (length = alternative_name (identity->own, position, 0, name, room)) != 0; position++)
    if (length > 0 && found++ == number)
      return (size_t) length;
  /* Without alternative names the common name counts, as it does for gnutls_x509_crt_check_hostname. */
  size_t size = room;
  if (number != 0 || position != 0
      || 0 != gnutls_x509_crt_get_dn_by_oid (identity->own, GNUTLS_OID_X520_COMMON_NAME, 0, 0, name, &size)
      || !is_text (name, size))
    return 0;
  return size;
}

int
realm_rest_identity_digest (const realm_rest_identity *identity, uint8_t digest[32])
{
  size_t size = 32;
  return 0 == gnutls_x509_crt_get_fingerprint (identity->own, GNUTLS_DIG_SHA256, digest, &size) && size == 32;
}

/* Adds names to a certificate, each an address or a DNS name. */
static int
add_names (gnutls_x509_crt_t certificate, const char *names)
{
  int code = 0;
  while (*names && code == 0)
    {
      size_t length = strcspn (names, "\n");
      char name[256];
      unsigned char address[16];
      if (length > 0 && length < sizeof (name))
        {
          memcpy (name, names, length);
          name[length] = 0;
          int size = 1 == inet_pton (AF_INET, name, address) ? 4 : 1 == inet_pton (AF_INET6, name, address) ? 16 : 0;
          code = size
            ? gnutls_x509_crt_set_subject_alt_name (certificate, GNUTLS_SAN_IPADDRESS, address, (unsigned int) size,
                                                    GNUTLS_FSAN_APPEND)
            : gnutls_x509_crt_set_subject_alt_name (certificate, GNUTLS_SAN_DNSNAME, name, (unsigned int) length,
                                                    GNUTLS_FSAN_APPEND);
        }
      names += length + (names[length] == '\n');
    }
  return code;
}

/* Fills in a certificate that is its own authority, and signs it. */
static int
fill_in (gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key, const char *names, int64_t now, int64_t seconds)
{
  unsigned char serial[16];
  static const char subject[] = "realm-rest trial";
  int code = gnutls_rnd (GNUTLS_RND_NONCE, serial, sizeof (serial));
  serial[0] = (serial[0] & 0x7f) | 0x40;
  if (code == 0) code = gnutls_x509_crt_set_version (certificate, 3);
  if (code == 0) code = gnutls_x509_crt_set_serial (certificate, serial, sizeof (serial));
  if (code == 0) code = gnutls_x509_crt_set_activation_time (certificate, (time_t) now - 3600);
  if (code == 0) code = gnutls_x509_crt_set_expiration_time (certificate, (time_t) (now + seconds));
  if (code == 0)
    code = gnutls_x509_crt_set_dn_by_oid (certificate, GNUTLS_OID_X520_COMMON_NAME, 0, subject, sizeof (subject) - 1);
  if (code == 0) code = gnutls_x509_crt_set_key (certificate, key);
  if (code == 0) code = add_names (certificate, names);
  if (code == 0) code = gnutls_x509_crt_set_basic_constraints (certificate, 0, -1);
  if (code == 0) code = gnutls_x509_crt_set_key_usage (certificate, GNUTLS_KEY_DIGITAL_SIGNATURE);
  if (code == 0) code = gnutls_x509_crt_set_key_purpose_oid (certificate, GNUTLS_KP_TLS_WWW_SERVER, 0);
  if (code == 0) code = gnutls_x509_crt_sign2 (certificate, certificate, key, GNUTLS_DIG_SHA256, 0);
  return code;
}

size_t
realm_rest_make_certificate (const char *names, int64_t now, int64_t seconds, char *text, size_t room)
{
  gnutls_x509_crt_t certificate = NULL;
  gnutls_x509_privkey_t key = NULL;
  size_t size = room, rest = 0;
  int code = gnutls_x509_crt_init (&certificate);
  if (code == 0) code = gnutls_x509_privkey_init (&key);
  if (code == 0)
    code = gnutls_x509_privkey_generate (key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS (GNUTLS_ECC_CURVE_SECP256R1), 0);
  if (code == 0) code = fill_in (certificate, key, names, now, seconds);
  if (code == 0) code = gnutls_x509_crt_export (certificate, GNUTLS_X509_FMT_PEM, text, &size);
  if (code == 0)
    {
      rest = room - size;
      code = gnutls_x509_privkey_export (key, GNUTLS_X509_FMT_PEM, text + size, &rest);
    }
  if (certificate)
    gnutls_x509_crt_deinit (certificate);
  if (key)
    gnutls_x509_privkey_deinit (key);
  return code == 0 ? size + rest : 0;
}

int
realm_rest_is_open_to_others (const char *path)
{
  struct stat info;
  return 0 == stat (path, &info) && 0 != (info.st_mode & S_IRWXO);
}

/* MARK: - Clients */

struct realm_rest_authorities {
  gnutls_x509_trust_list_t list;
};

realm_rest_authorities *
realm_rest_authorities_new (const uint8_t *text, size_t size, char *failure, size_t room)
{
  realm_rest_authorities *authorities = calloc (1, sizeof (*authorities));
  gnutls_datum_t pem = { (unsigned char *) text, (unsigned int) size };
  int code = authorities ? gnutls_x509_trust_list_init (&authorities->list, 0) : GNUTLS_E_MEMORY_ERROR;
  if (code == 0)
    {
      code = gnutls_x509_trust_list_add_trust_mem (authorities->list, &pem, NULL, GNUTLS_X509_FMT_PEM, 0, 0);
      if (code > 0)
        return authorities;
      if (code == 0)
        code = GNUTLS_E_NO_CERTIFICATE_FOUND;
    }
  explain (failure, room, "the certificates of authorities cannot be read", code);
  if (authorities)
    realm_rest_authorities_free (authorities);
  return NULL;
}

void
realm_rest_authorities_free (realm_rest_authorities *authorities)
{
  if (authorities->list)
    gnutls_x509_trust_list_deinit (authorities->list, 1);
  free (authorities);
}

/* Notes what a certificate says about its owner. */
static void
describe (gnutls_x509_crt_t certificate, struct realm_rest_peer *peer)
{
  gnutls_datum_t subject = { NULL, 0 };
  peer->expiry = gnutls_x509_crt_get_expiration_time (certificate);
  if (0 == gnutls_x509_crt_get_dn3 (certificate, &subject, 0) && subject.size < sizeof (peer->subject)
      && is_text ((const char *) subject.data, subject.size))
    {
      memcpy (peer->subject, subject.data, subject.size);
      peer->subject[subject.size] = 0;
    }
  gnutls_free (subject.data);
  size_t used = 0;
  char name[1040];
  int length;
  for (unsigned int number = 0; number < 256 && 0 != (length = alternative_name (certificate, number, 1, name, sizeof (name)));
       number++)
    {
      if (length < 0 || used + (size_t) length + 2 > sizeof (peer->names))
        continue;
      memcpy (peer->names + used, name, (size_t) length);
      used += (size_t) length;
      peer->names[used++] = '\n';
    }
  peer->names[used] = 0;
}

int
realm_rest_session_peer (void *session, const realm_rest_authorities *authorities, struct realm_rest_peer *peer)
{
  unsigned int count = 0;
  const gnutls_datum_t *sent = gnutls_certificate_get_peers (session, &count);
  memset (peer, 0, sizeof (*peer));
  if (sent == NULL || count == 0 || count > chain_limit)
    return 0;
  gnutls_x509_crt_t chain[chain_limit];
  unsigned int read = 0;
  while (read < count && 0 == gnutls_x509_crt_init (&chain[read]))
    {
      read++;
      if (0 != gnutls_x509_crt_import (chain[read - 1], &sent[read - 1], GNUTLS_X509_FMT_DER))
        break;
    }
  if (read == count)
    {
      unsigned int status = ~0u;
      gnutls_typed_vdata_st purpose = { GNUTLS_DT_KEY_PURPOSE_OID, (unsigned char *) GNUTLS_KP_TLS_WWW_CLIENT, 0 };
      describe (chain[0], peer);
      peer->is_verified = authorities != NULL
        && 0 == gnutls_x509_trust_list_verify_crt2 (authorities->list, chain, count, &purpose, 1, 0, &status, NULL)
        && status == 0;
    }
  for (unsigned int index = 0; index < read; index++)
    gnutls_x509_crt_deinit (chain[index]);
  return read == count;
}

void
realm_rest_session_ask (void *session)
{
  gnutls_certificate_server_set_request (session, GNUTLS_CERT_REQUEST);
}

void
realm_rest_session_finish (void *session, const uint8_t *bytes, size_t size)
{
  /* Before the handshake has ended there is no key to send anything with. */
  if (gnutls_cipher_get (session) == GNUTLS_CIPHER_NULL)
    return;
  while (size > 0)
    {
      ssize_t sent = gnutls_record_send (session, bytes, size);
      if (sent <= 0)
        return;
      bytes += sent;
      size -= (size_t) sent;
    }
  gnutls_bye (session, GNUTLS_SHUT_WR);
}

/* MARK: - Functions of the server */

static _Atomic (realm_rest_choice) choice;
static _Atomic (realm_rest_plain) plain;

void
realm_rest_set_callbacks (realm_rest_choice choice_function, realm_rest_plain plain_function)
{
  atomic_store (&choice, choice_function);
  atomic_store (&plain, plain_function);
}

/* The context of the connection that a session belongs to; NULL while it has none. */
static void *
context_of (gnutls_session_t session)
{
  struct MHD_Connection *connection = gnutls_session_get_ptr (session);
  const union MHD_ConnectionInfo *info =
    connection ? MHD_get_connection_info (connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT) : NULL;
  return info ? info->socket_context : NULL;
}

/* MARK: - Clients that do not speak TLS */

/* Receives like the default function of the library. */
static ssize_t
receive (gnutls_transport_ptr_t socket, void *bytes, size_t size)
{
  return recv ((int) (intptr_t) socket, bytes, size, 0);
}

/* Receives the first bytes, for which the session stands in the place of its socket. Requests begin with a capital letter, records of
   TLS with a small number. The library may call this once more with the session after that, when it got a part of a record. */
static ssize_t
receive_first (gnutls_transport_ptr_t session, void *bytes, size_t size)
{
  gnutls_transport_ptr_t source, socket;
  gnutls_transport_get_ptr2 (session, &source, &socket);
  ssize_t count = receive (socket, bytes, size);
  if (count <= 0 || source == socket)
    return count;
  gnutls_transport_set_ptr2 (session, socket, socket);
  gnutls_transport_set_pull_function (session, receive);
  const unsigned char first = *(const unsigned char *) bytes;
  realm_rest_plain function = atomic_load (&plain);
  void *context = context_of (session);
  if (first < 'A' || first > 'Z' || function == NULL || context == NULL)
    return count;
  function (context);
  /* As if the client had left: the handshake fails, and the connection is closed. */
  return 0;
}

void
realm_rest_session_notice_plain (void *session)
{
  gnutls_transport_ptr_t source, socket;
  gnutls_transport_get_ptr2 (session, &source, &socket);
  gnutls_transport_set_ptr2 (session, session, socket);
  gnutls_transport_set_pull_function (session, receive_first);
}

/* MARK: - The server's certificate */

/* Called during a handshake, on the thread that serves the connection. */
static int
retrieve (gnutls_session_t session, const gnutls_datum_t *authorities, int authority_count, const gnutls_pk_algorithm_t *algorithms,
          int algorithm_count, gnutls_pcert_st **chain, unsigned int *count, gnutls_privkey_t *key)
{
  (void) authorities;
  (void) authority_count;
  (void) algorithms;
  (void) algorithm_count;
  void *context = context_of (session);
  realm_rest_choice function = atomic_load (&choice);
  char name[256];
  size_t size = sizeof (name) - 1;
  unsigned int kind = 0;
  int has_name = 0 == gnutls_server_name_get (session, name, &size, &kind, 0) && kind == GNUTLS_NAME_DNS
    && size < sizeof (name) && is_text (name, size);
  name[has_name ? size : 0] = 0;
  if (function == NULL || context == NULL)
    return -1;
  const realm_rest_identity *identity = function (context, has_name ? name : NULL);
  if (identity == NULL)
    return -1;
  *chain = (gnutls_pcert_st *) identity->chain;
  *count = identity->count;
  *key = identity->key;
  return 0;
}

void *
realm_rest_certificate_callback (void)
{
  return (void *) &retrieve;
}
