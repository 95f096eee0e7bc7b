#ifndef REALM_REST_CXLSXWRITER_SHIM_H
#define REALM_REST_CXLSXWRITER_SHIM_H
#include <xlsxwriter.h>
#endif
