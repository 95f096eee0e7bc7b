#ifndef REALM_REST_CMICROHTTPD_SHIM_H
#define REALM_REST_CMICROHTTPD_SHIM_H
#include <microhttpd.h>
#endif
