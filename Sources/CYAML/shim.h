#ifndef REALM_REST_CYAML_SHIM_H
#define REALM_REST_CYAML_SHIM_H
#include <yaml.h>
#endif
