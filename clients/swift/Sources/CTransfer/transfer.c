#include "transfer.h"

#include <stdlib.h>

#ifdef __linux__
#include <dlfcn.h>
#include <pthread.h>

// The numbers of options are part of the interface of the library, which has kept its version since 2006.
enum {
    NO_PROGRESS = 43, CONNECT_TIMEOUT = 78, HTTP_VERSION = 84, NO_SIGNAL = 99, PROTOCOLS = 181, SUPPRESS_CONNECT_HEADERS = 265,
    WRITE_DATA = 10001, URL = 10002, POST_FIELDS = 10015, HTTP_HEADER = 10023, HEADER_DATA = 10029, CUSTOM_REQUEST = 10036,
    PROGRESS_DATA = 10057, ACCEPT_ENCODING = 10102, WRITE_FUNCTION = 20011, HEADER_FUNCTION = 20079, PROGRESS_FUNCTION = 20219,
    POST_FIELD_SIZE = 30120,
};

static struct {
    int (*global_init)(long flags);
    void *(*easy_init)(void);
    void (*easy_cleanup)(void *handle);
    void (*easy_reset)(void *handle);
    int (*easy_setopt)(void *handle, int option, ...);
    int (*easy_perform)(void *handle);
    const char *(*easy_strerror)(int code);
    void *(*slist_append)(void *list, const char *text);
    void (*slist_free_all)(void *list);
    bool is_available;
} curl;

static void load(void) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW);
    if (!library) return;
    struct { const char *name; void *place; } symbols[] = {
        {"curl_global_init", &curl.global_init}, {"curl_easy_init", &curl.easy_init}, {"curl_easy_cleanup", &curl.easy_cleanup},
        {"curl_easy_reset", &curl.easy_reset}, {"curl_easy_setopt", &curl.easy_setopt}, {"curl_easy_perform", &curl.easy_perform},
        {"curl_easy_strerror", &curl.easy_strerror}, {"curl_slist_append", &curl.slist_append},
        {"curl_slist_free_all", &curl.slist_free_all},
    };
    for (size_t at = 0; at < sizeof symbols / sizeof *symbols; at++) {
        void *symbol = dlsym(library, symbols[at].name);
        if (!symbol) return;
        *(void **)symbols[at].place = symbol;
    }
    curl.is_available = curl.global_init(3) == 0;
}

bool transfer_is_available(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return curl.is_available;
}

void *transfer_open(void) { return transfer_is_available() ? curl.easy_init() : NULL; }
void transfer_close(void *handle) { curl.easy_cleanup(handle); }

static size_t take_head(char *line, size_t size, size_t count, void *data) {
    const struct transfer *transfer = data;
    return transfer->head(transfer->context, line, size * count) ? size * count : 0;
}

static size_t take_piece(char *bytes, size_t size, size_t count, void *data) {
    const struct transfer *transfer = data;
    return transfer->piece(transfer->context, (const uint8_t *)bytes, size * count) ? size * count : 0;
}

static int ask(void *data, int64_t down_total, int64_t down, int64_t up_total, int64_t up) {
    const struct transfer *transfer = data;
    (void)down_total, (void)down, (void)up_total, (void)up;
    return transfer->goes_on(transfer->context) ? 0 : 1;
}

const char *transfer_perform(void *handle, const struct transfer *transfer) {
    void *fields = NULL;
    for (size_t at = 0; at < transfer->header_count; at++) {
        void *longer = curl.slist_append(fields, transfer->headers[at]);
        if (!longer) {
            curl.slist_free_all(fields);
            return "out of memory";
        }
        fields = longer;
    }
    curl.easy_reset(handle);
    curl.easy_setopt(handle, URL, transfer->url);
    curl.easy_setopt(handle, CUSTOM_REQUEST, transfer->method);
    curl.easy_setopt(handle, HTTP_HEADER, fields);
    curl.easy_setopt(handle, HTTP_VERSION, 2L);  // HTTP/1.1
    curl.easy_setopt(handle, PROTOCOLS, 3L);     // http and https
    curl.easy_setopt(handle, ACCEPT_ENCODING, "gzip");
    curl.easy_setopt(handle, SUPPRESS_CONNECT_HEADERS, 1L);
    curl.easy_setopt(handle, CONNECT_TIMEOUT, 30L);
    curl.easy_setopt(handle, NO_SIGNAL, 1L);
    curl.easy_setopt(handle, NO_PROGRESS, 0L);
    curl.easy_setopt(handle, PROGRESS_FUNCTION, ask);
    curl.easy_setopt(handle, PROGRESS_DATA, transfer);
    curl.easy_setopt(handle, HEADER_FUNCTION, take_head);
    curl.easy_setopt(handle, HEADER_DATA, transfer);
    curl.easy_setopt(handle, WRITE_FUNCTION, take_piece);
    curl.easy_setopt(handle, WRITE_DATA, transfer);
    if (transfer->body) {
        curl.easy_setopt(handle, POST_FIELDS, transfer->body);
        curl.easy_setopt(handle, POST_FIELD_SIZE, (int64_t)transfer->body_count);
    }
    int code = curl.easy_perform(handle);
    curl.slist_free_all(fields);
    return code == 0 ? NULL : curl.easy_strerror(code);
}

#else

bool transfer_is_available(void) { return false; }
void *transfer_open(void) { return NULL; }
void transfer_close(void *handle) { (void)handle; }
const char *transfer_perform(void *handle, const struct transfer *transfer) { return (void)handle, (void)transfer, "not available"; }

#endif
