#ifndef REALM_REST_CDECIMAL_SHIM_H
#define REALM_REST_CDECIMAL_SHIM_H
/* The archive libbidgcc000.a is the variant with these three switches off:
   arguments by value, rounding mode and exception flags passed explicitly. */
#define DECIMAL_CALL_BY_REFERENCE 0
#define DECIMAL_GLOBAL_ROUNDING 0
#define DECIMAL_GLOBAL_EXCEPTION_FLAGS 0
#include <bid_conf.h>
#include <bid_functions.h>
#endif
