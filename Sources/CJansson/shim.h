#ifndef REALM_REST_CJANSSON_SHIM_H
#define REALM_REST_CJANSSON_SHIM_H
#include <jansson.h>

/* jansson reads types by macros, which Swift does not import. */
static inline json_type
realm_rest_json_type (const json_t *value)
{
  return json_typeof (value);
}
#endif
