#ifndef REALM_REST_CPOSTGRES_SHIM_H
#define REALM_REST_CPOSTGRES_SHIM_H
#include <libpq-fe.h>

/* The codes of fields of errors, which libpq defines as characters. */
enum {
  realm_rest_pq_severity = PG_DIAG_SEVERITY_NONLOCALIZED,
  realm_rest_pq_state = PG_DIAG_SQLSTATE,
  realm_rest_pq_message = PG_DIAG_MESSAGE_PRIMARY
};

#endif
