// SPDX-License-Identifier: Apache-2.0

/// SQLite over open files that have no name, with bounds on what a database may cost.
///
/// It is in C because SQLite takes its settings through variadic functions, and files through tables of functions.
#ifndef REALM_REST_SQLITE_H
#define REALM_REST_SQLITE_H

#include <sqlite3.h>
#include <stdint.h>

/// Makes a database in an empty file. The file may grow up to `limit` bytes; SQLITE_FULL is the result beyond that. The
/// descriptor stays open when the database is closed. Nothing is synced, and there is no journal: an unfinished file
/// is useless. Returns a code of SQLite; `database` is NULL unless that is SQLITE_OK.
int realm_rest_sqlite_create (int descriptor, int64_t limit, sqlite3 **database);

/// Opens an untrusted database for reading: nothing in its schema is trusted, no view, trigger, virtual table or
/// pragma is run, every function fails, and values have at most `value_limit` bytes.
int realm_rest_sqlite_open (int descriptor, int value_limit, sqlite3 **database);

/// Called now and then while SQLite works; 0 continues, any other value ends the work with SQLITE_INTERRUPT.
typedef int (*realm_rest_sqlite_look) (void *context);

/// Bounds the bytes that SQLite allocates on this thread from now on. SQLite calls `look` when it allocates and reads, since no
/// other callback runs while it reads a schema. An allocation beyond the bound fails. 0 lifts the bound. A database that is opened
/// under a bound must be closed under it.
void realm_rest_sqlite_bound (int64_t limit, realm_rest_sqlite_look look, void *context);

/// The same for a database that uses `used` bytes already, so that several threads may use it one after the other.
void realm_rest_sqlite_bound_again (int64_t limit, int64_t used, realm_rest_sqlite_look look, void *context);

/// Lifts the bound, and returns the bytes that are in use under it.
int64_t realm_rest_sqlite_unbound (void);

/// Has `look` called about every so many steps of SQLite.
void realm_rest_sqlite_watch (sqlite3 *database, int steps, realm_rest_sqlite_look look, void *context);

/// Binds bytes, which are copied, as text or as a blob.
int realm_rest_sqlite_bind_text (sqlite3_stmt *statement, int index, const uint8_t *bytes, uint64_t count);
int realm_rest_sqlite_bind_blob (sqlite3_stmt *statement, int index, const uint8_t *bytes, uint64_t count);

#endif
