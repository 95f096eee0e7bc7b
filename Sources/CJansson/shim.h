#ifndef REALM_REST_CJANSSON_SHIM_H
#define REALM_REST_CJANSSON_SHIM_H
#include <jansson.h>
#endif
