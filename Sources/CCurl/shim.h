#ifndef REALM_REST_CCURL_SHIM_H
#define REALM_REST_CCURL_SHIM_H
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

/* libcurl takes its options through variadic functions, which Swift cannot call. Each function returns whether the
   option was accepted. */

enum { realm_rest_curl_error_size = CURL_ERROR_SIZE };

/* Once in a process, before everything else. */
static inline int
realm_rest_curl_start (void)
{
  return CURLE_OK == curl_global_init (CURL_GLOBAL_DEFAULT);
}

static inline int
realm_rest_curl_set_text (CURL *handle, CURLoption option, const char *text)
{
  return CURLE_OK == curl_easy_setopt (handle, option, text);
}

static inline int
realm_rest_curl_set_number (CURL *handle, CURLoption option, long number)
{
  return CURLE_OK == curl_easy_setopt (handle, option, number);
}

/* The number of bytes that are going to be sent. */
static inline int
realm_rest_curl_set_body_size (CURL *handle, curl_off_t size)
{
  return CURLE_OK == curl_easy_setopt (handle, CURLOPT_INFILESIZE_LARGE, size);
}

/* The list has to stay until the transfer has ended. */
static inline int
realm_rest_curl_set_headers (CURL *handle, struct curl_slist *headers)
{
  return CURLE_OK == curl_easy_setopt (handle, CURLOPT_HTTPHEADER, headers);
}

/* Room for a message of realm_rest_curl_error_size bytes, which has to stay until the transfer has ended. */
static inline int
realm_rest_curl_set_error_room (CURL *handle, char *room)
{
  return CURLE_OK == curl_easy_setopt (handle, CURLOPT_ERRORBUFFER, room);
}

/* The callbacks of a transfer, with the same context everywhere. */
struct realm_rest_curl_callbacks {
  void *context;
  curl_read_callback read;
  curl_seek_callback seek;
  curl_write_callback write;
  curl_write_callback header;
  curl_xferinfo_callback progress;
};

static inline int
realm_rest_curl_set_callbacks (CURL *handle, const struct realm_rest_curl_callbacks *callbacks)
{
  return CURLE_OK == curl_easy_setopt (handle, CURLOPT_READDATA, callbacks->context)
    && CURLE_OK == curl_easy_setopt (handle, CURLOPT_READFUNCTION, callbacks->read)
    && CURLE_OK == curl_easy_setopt (handle, CURLOPT_SEEKDATA, callbacks->context)
    && CURLE_OK == curl_easy_setopt (handle, CURLOPT_SEEKFUNCTION, callbacks->seek)
    && CURLE_OK == curl_easy_setopt (handle, CURLOPT_WRITEDATA, callbacks->context)
    && CURLE_OK == curl_easy_setopt (handle, CURLOPT_WRITEFUNCTION, callbacks->write)
    && CURLE_OK == curl_easy_setopt (handle, CURLOPT_HEADERDATA, callbacks->context)
    && CURLE_OK == curl_easy_setopt (handle, CURLOPT_HEADERFUNCTION, callbacks->header)
    && CURLE_OK == curl_easy_setopt (handle, CURLOPT_XFERINFODATA, callbacks->context)
    && CURLE_OK == curl_easy_setopt (handle, CURLOPT_XFERINFOFUNCTION, callbacks->progress)
    && CURLE_OK == curl_easy_setopt (handle, CURLOPT_NOPROGRESS, 0L);
}

#endif
