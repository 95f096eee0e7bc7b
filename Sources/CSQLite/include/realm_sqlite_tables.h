// SPDX-License-Identifier: Apache-2.0

/// Tables whose rows a program finds while SQLite asks for them, in a database without a file.
///
/// It is in C because SQLite extends its structures by those of their users, and takes settings through variadic functions.
#ifndef REALM_REST_SQLITE_TABLES_H
#define REALM_REST_SQLITE_TABLES_H

#include "realm_sqlite.h"

/// The functions behind a table. They return a code of SQLite; `filter` and `next` return SQLITE_ROW when the cursor is at a row
/// and SQLITE_DONE at the end. `open` returns a cursor, which `close` releases, or NULL without memory.
typedef struct {
  int (*connect) (void *table, sqlite3 *database);
  int (*plan) (void *table, sqlite3_index_info *info);
  void *(*open) (void *table);
  int (*filter) (void *cursor, int plan, int count, sqlite3_value **values);
  int (*next) (void *cursor);
  int (*column) (void *cursor, sqlite3_context *result, int column);
  int64_t (*row) (void *cursor);
  void (*close) (void *cursor);
} realm_rest_sqlite_functions;

/// Makes a database that only has the tables which are added, and that only reads: other statements are refused when they are
/// prepared.
///
/// - Parameters:
///   - value_limit: The greatest length of a value, in bytes.
///   - text_limit: The greatest length of a statement, in bytes.
int realm_rest_sqlite_live (int value_limit, int text_limit, sqlite3 **database);

/// Adds a table, which outlives the database. The functions are copied.
int realm_rest_sqlite_add (sqlite3 *database, const char *name, void *table, const realm_rest_sqlite_functions *functions);

/// Sets the text that a plan of queries shows for a table.
int realm_rest_sqlite_describe (sqlite3_index_info *info, const char *text);

/// Returns bytes, which are copied, as text or as a blob.
void realm_rest_sqlite_result_text (sqlite3_context *result, const uint8_t *bytes, uint64_t count);
void realm_rest_sqlite_result_blob (sqlite3_context *result, const uint8_t *bytes, uint64_t count);

#endif
