#ifndef REALM_REST_CEXPAT_SHIM_H
#define REALM_REST_CEXPAT_SHIM_H
#include <expat.h>
#endif
