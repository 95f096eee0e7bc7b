#ifndef REALM_REST_CZSTD_SHIM_H
#define REALM_REST_CZSTD_SHIM_H
#include <zstd.h>
#endif
