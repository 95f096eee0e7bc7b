#ifndef REALM_REST_CZLIB_SHIM_H
#define REALM_REST_CZLIB_SHIM_H
#include <zlib.h>
#endif
