#ifndef REALM_REST_CMICROHTTPD_SHIM_H
#define REALM_REST_CMICROHTTPD_SHIM_H
#include <microhttpd.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <errno.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

/* libmicrohttpd takes its options and returns its facts through variadic functions, which Swift cannot call. */

struct realm_rest_daemon_options {
  /* A listening socket, whose connections the threads share; without threads there is one thread, which is given its connections. */
  int listen_socket;
  unsigned int threads;
  unsigned int connections;
  unsigned int idle_seconds;
  size_t connection_memory;
  void *context;
  MHD_AcceptPolicyCallback accept;
  MHD_AccessHandlerCallback handler;
  void *(*target) (void *context, const char *target, struct MHD_Connection *connection);
  MHD_RequestCompletedCallback completed;
  MHD_NotifyConnectionCallback connection_changed;
  /* Called when the library itself refuses a request, before it sends its own answer. */
  void (*refused) (void *context, unsigned int status);
  /* Chooses a certificate; NULL for plain HTTP. */
  void *certificate;
};

/* TLS 1.2 and 1.3 with forward secrecy and authenticated ciphers, without signatures by SHA-1. */
#define REALM_REST_PRIORITIES \
  "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:+AES-256-GCM:+CHACHA20-POLY1305:" \
  "+AES-128-GCM:-MAC-ALL:+AEAD:-SIGN-RSA-SHA1:-SIGN-ECDSA-SHA1:-SIGN-DSA-SHA1:%SERVER_PRECEDENCE"

/* The log of the library is dropped, but its refusals are reported. */
static void
realm_rest_log (void *context, const char *format, va_list arguments)
{
  static const char refusal[] = "Error processing request (HTTP response code is %u";
  const struct realm_rest_daemon_options *options = context;
  if (0 == strncmp (format, refusal, sizeof (refusal) - 1))
    options->refused (options->context, va_arg (arguments, unsigned int));
}

/* Paths and queries are decoded by the server, which has to split them first. */
static size_t
realm_rest_keep_escapes (void *context, struct MHD_Connection *connection, char *text)
{
  (void) context;
  (void) connection;
  size_t count = 0;
  while (text[count])
    count++;
  return count;
}

/* The options have to stay where they are as long as the daemon runs. */
static inline struct MHD_Daemon *
realm_rest_start_daemon (const struct realm_rest_daemon_options *options)
{
  unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
  int count = 8;
  struct MHD_OptionItem items[16] = {
    { MHD_OPTION_EXTERNAL_LOGGER, (intptr_t) &realm_rest_log, (void *) options },
    { MHD_OPTION_NOTIFY_COMPLETED, (intptr_t) options->completed, options->context },
    { MHD_OPTION_URI_LOG_CALLBACK, (intptr_t) options->target, options->context },
    { MHD_OPTION_NOTIFY_CONNECTION, (intptr_t) options->connection_changed, options->context },
    { MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t) &realm_rest_keep_escapes, NULL },
    { MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t) options->connection_memory, NULL },
    { MHD_OPTION_CONNECTION_LIMIT, options->connections, NULL },
    { MHD_OPTION_CONNECTION_TIMEOUT, options->idle_seconds, NULL },
  };
  if (options->threads)
    {
      items[count++] = (struct MHD_OptionItem) { MHD_OPTION_LISTEN_SOCKET, options->listen_socket, NULL };
      if (options->threads > 1)
        items[count++] = (struct MHD_OptionItem) { MHD_OPTION_THREAD_POOL_SIZE, options->threads, NULL };
    }
  else
    flags |= MHD_USE_NO_LISTEN_SOCKET;
  if (options->certificate)
    {
      flags |= MHD_USE_TLS;
      items[count++] = (struct MHD_OptionItem) { MHD_OPTION_HTTPS_PRIORITIES, 0, (void *) REALM_REST_PRIORITIES };
      items[count++] = (struct MHD_OptionItem) { MHD_OPTION_HTTPS_CERT_CALLBACK, 0, options->certificate };
    }
  items[count] = (struct MHD_OptionItem) { MHD_OPTION_END, 0, NULL };
  return MHD_start_daemon (flags, 0, options->accept, options->context, options->handler, options->context,
                           MHD_OPTION_ARRAY, items, MHD_OPTION_END);
}

enum realm_rest_acceptance { realm_rest_accepted = 1, realm_rest_refused = 0, realm_rest_none = -1 };

/* Accepts a connection and gives it to a daemon, from any thread. One that the daemon refuses is closed. */
static inline enum realm_rest_acceptance
realm_rest_accept (int listener, struct MHD_Daemon *daemon)
{
  struct sockaddr_storage address = { 0 };
  socklen_t length = sizeof (address);
  int client = accept4 (listener, (struct sockaddr *) &address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (client < 0)
    return realm_rest_none;
  if (length < sizeof (sa_family_t))
    {
      close (client);
      return realm_rest_refused;
    }
  return MHD_YES == MHD_add_connection (daemon, client, (struct sockaddr *) &address, length) ? realm_rest_accepted
                                                                                             : realm_rest_refused;
}

/* Waits until a connection can be accepted, the time is over (-1: never), or the end is signalled, for which it returns 0. */
static inline int
realm_rest_wait_to_accept (int listener, int ending, int milliseconds)
{
  struct pollfd sockets[2] = { { .fd = listener, .events = POLLIN }, { .fd = ending, .events = POLLIN } };
  while (poll (sockets, 2, milliseconds) < 0)
    if (errno != EINTR)
      return 0;
  return 0 == sockets[1].revents;
}

/* A descriptor that can be read once it was signalled, and stays so. */
static inline int
realm_rest_signal_new (void)
{
  return eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
}

static inline void
realm_rest_signal (int descriptor)
{
  (void) eventfd_write (descriptor, 1);
}

/* How many events a daemon takes from the system at once. After exactly as many it waits for one more before it handles any. */
#define REALM_REST_EVENTS_AT_ONCE 128

/* Has each signal of a descriptor end the wait of a daemon, which does nothing else for it: the library ignores events without
   data. Returns 0 if the daemon has no set of events or the system refuses. */
static inline int
realm_rest_wake_by (struct MHD_Daemon *daemon, int descriptor)
{
  const union MHD_DaemonInfo *info = MHD_get_daemon_info (daemon, MHD_DAEMON_INFO_EPOLL_FD);
  struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data = { .ptr = NULL } };
  return NULL != info && 0 == epoll_ctl (info->epoll_fd, EPOLL_CTL_ADD, descriptor, &event);
}

/* Closes a TCP connection so that the other side sees an error, whatever it has received. Unsent bytes are lost. */
static inline void
realm_rest_reset (int socket)
{
  struct sockaddr none = { .sa_family = AF_UNSPEC };
  (void) connect (socket, &none, sizeof (none));
}

/* Has the system reset a TCP connection whose client acknowledges nothing for a time. Returns 0 if it cannot. */
static inline int
realm_rest_reset_after (int socket, unsigned int milliseconds)
{
  return 0 == setsockopt (socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof (milliseconds));
}

/* Sends no chunked coding and no length: the head of a stream that HEAD asks for. The library would otherwise end
   such an answer with an empty chunk. The connection is closed after it. */
static inline void
realm_rest_send_without_framing (struct MHD_Response *response)
{
  MHD_set_response_options (response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

/* A set of sockets that reports those closed by the other side, each once. */
static inline int
realm_rest_watch_new (void)
{
  return epoll_create1 (EPOLL_CLOEXEC);
}

static inline int
realm_rest_watch_add (int watch, int socket, uint64_t number)
{
  struct epoll_event event = { .events = EPOLLRDHUP | EPOLLHUP | EPOLLERR | EPOLLET, .data = { .u64 = number } };
  return epoll_ctl (watch, EPOLL_CTL_ADD, socket, &event);
}

/* The same for bytes that have come. */
static inline int
realm_rest_watch_add_readable (int watch, int socket, uint64_t number)
{
  struct epoll_event event = { .events = EPOLLIN, .data = { .u64 = number } };
  return epoll_ctl (watch, EPOLL_CTL_ADD, socket, &event);
}

static inline int
realm_rest_watch_remove (int watch, int socket)
{
  struct epoll_event event = { 0 };
  return epoll_ctl (watch, EPOLL_CTL_DEL, socket, &event);
}

/* From now on also reports when a socket has room again for what is to be sent. */
static inline int
realm_rest_watch_for_room (int watch, int socket, uint64_t number)
{
  struct epoll_event event = { .events = EPOLLRDHUP | EPOLLHUP | EPOLLERR | EPOLLOUT | EPOLLET, .data = { .u64 = number } };
  return epoll_ctl (watch, EPOLL_CTL_MOD, socket, &event);
}

enum { realm_rest_watch_limit = 64 };

struct realm_rest_watch_event {
  uint64_t number;
  /* Whether the other side has closed the socket, or it has failed. */
  _Bool is_closed;
};

/* Waits for sockets with news, at most realm_rest_watch_limit of them. */
static inline int
realm_rest_watch_wait (int watch, struct realm_rest_watch_event *news, int milliseconds)
{
  struct epoll_event events[realm_rest_watch_limit];
  int count = epoll_wait (watch, events, realm_rest_watch_limit, milliseconds);
  for (int index = 0; index < count; index++)
    {
      news[index].number = events[index].data.u64;
      news[index].is_closed = 0 != (events[index].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR));
    }
  return count;
}

/* Has small pieces sent at once, although earlier ones are not acknowledged. Sockets that are not TCP do so anyway. */
static inline void
realm_rest_send_at_once (int socket)
{
  int on = 1;
  setsockopt (socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof (on));
}

/* How long a connection may make no progress, in seconds. */
static inline void
realm_rest_set_timeout (struct MHD_Connection *connection, unsigned int seconds)
{
  MHD_set_connection_option (connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

/* The record that connection_changed attached to the connection. */
static inline void *
realm_rest_connection_context (struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info =
    MHD_get_connection_info (connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

static inline int
realm_rest_connection_socket (struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info =
    MHD_get_connection_info (connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

/* The session of GnuTLS; NULL for plain HTTP. */
static inline void *
realm_rest_connection_session (struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info =
    MHD_get_connection_info (connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
  return info ? info->tls_session : NULL;
}

static inline const struct sockaddr *
realm_rest_client_address (struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info =
    MHD_get_connection_info (connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info ? info->client_addr : NULL;
}

/* The bytes of the head of the current request up to and with its empty line; 0 when it is not known. */
static inline long
realm_rest_head_size (struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info =
    MHD_get_connection_info (connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info ? (long) info->header_size : 0;
}

/* The family of a socket address, such as AF_INET6. Several modules declare the members of struct sockaddr, and which of
   them Swift takes them from depends on the order in which it reads the modules, so Swift does not read them. */
static inline int
realm_rest_address_family (const struct sockaddr *address)
{
  return address->sa_family;
}

/* Bounds what the allocator keeps of memory that was freed. It keeps pieces for threads apart, and at the end of each it
   keeps as much as twice the largest block that was ever freed, which trimming does not reach: with a few large answers
   that comes to gigabytes on a machine of many cores. */
static inline void
realm_rest_bound_kept_memory (int pieces, int bytes_of_piece)
{
  mallopt (M_ARENA_MAX, pieces);
  mallopt (M_MMAP_THRESHOLD, bytes_of_piece);
  mallopt (M_TRIM_THRESHOLD, bytes_of_piece);
}

/* Gives memory that was freed back to the system. */
static inline void
realm_rest_return_memory (void)
{
  malloc_trim (0);
}

#endif
