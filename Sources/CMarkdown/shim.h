#ifndef REALM_REST_CMARKDOWN_SHIM_H
#define REALM_REST_CMARKDOWN_SHIM_H
#include <cmark-gfm.h>
#include <cmark-gfm-core-extensions.h>
#endif
