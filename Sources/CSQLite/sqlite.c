// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "realm_sqlite.h"
#include "bounds.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The limits of a thread with an untrusted database: the memory of SQLite, and the callback that may stop it. SQLite asks its
   progress handler between two of its own instructions only, so memory and files ask as well. */
typedef struct {
  int64_t used;
  int64_t limit;
  unsigned calls;
  realm_rest_sqlite_look look;
  void *context;
} bounds;

static _Thread_local bounds bound;
static sqlite3_mem_methods standard;

/* The length from which work on one value takes long enough for a look of its own. */
enum { LONG_VALUE = 1 << 16 };

/* Whether the thread has to stop. The look takes the time of a clock, so only some calls take it. */
static int
is_over (unsigned every)
{
  return NULL != bound.look && 0 == ++bound.calls % every && 0 != bound.look (bound.context);
}

static void *
bound_malloc (int count)
{
  if (0 == bound.limit)
    return standard.xMalloc (count);
  if (bound.used + count > bound.limit || is_over (count < LONG_VALUE ? 256 : 1))
    return NULL;
  void *made = standard.xMalloc (count);
  if (NULL != made)
    bound.used += standard.xSize (made);
  return made;
}

static void
bound_free (void *old)
{
  if (0 != bound.limit && NULL != old)
    bound.used -= standard.xSize (old);
  standard.xFree (old);
}

static void *
bound_realloc (void *old, int count)
{
  if (0 == bound.limit)
    return standard.xRealloc (old, count);
  int64_t before = NULL == old ? 0 : standard.xSize (old);
  if (bound.used - before + count > bound.limit || is_over (count < LONG_VALUE ? 256 : 1))
    return NULL;
  void *made = standard.xRealloc (old, count);
  if (NULL != made)
    bound.used += standard.xSize (made) - before;
  return made;
}

void
realm_rest_sqlite_bound (int64_t limit, realm_rest_sqlite_look look, void *context)
{
  realm_rest_sqlite_bound_again (limit, 0, look, context);
}

void
realm_rest_sqlite_bound_again (int64_t limit, int64_t used, realm_rest_sqlite_look look, void *context)
{
  bound = (bounds) { .used = used, .limit = limit, .look = look, .context = context };
}

int64_t
realm_rest_sqlite_unbound (void)
{
  int64_t used = bound.used;
  bound = (bounds) { 0 };
  return used;
}

int
realm_rest_sqlite_is_over (uint64_t length)
{
  return length >= LONG_VALUE && is_over (1);
}

/* A file of SQLite: a descriptor with a bound. Those that SQLite makes for itself, such as for sorting, are closed with it. */
typedef struct {
  sqlite3_file base;
  int descriptor;
  int is_own;
  int is_constant;
  int64_t limit;
} plain_file;

static int
file_close (sqlite3_file *base)
{
  plain_file *file = (plain_file *) base;
  if (file->is_own)
    close (file->descriptor);
  return SQLITE_OK;
}

static int
file_read (sqlite3_file *base, void *target, int count, sqlite3_int64 offset)
{
  plain_file *file = (plain_file *) base;
  int done = 0;
  if (is_over (16))
    return SQLITE_IOERR_READ;
  while (done < count) {
    ssize_t got = pread (file->descriptor, (char *) target + done, (size_t) (count - done), offset + done);
    if (got < 0 && EINTR == errno)
      continue;
    if (got < 0)
      return SQLITE_IOERR_READ;
    if (0 == got) {
      memset ((char *) target + done, 0, (size_t) (count - done));
      return SQLITE_IOERR_SHORT_READ;
    }
    done += (int) got;
  }
  return SQLITE_OK;
}

static int
file_write (sqlite3_file *base, const void *source, int count, sqlite3_int64 offset)
{
  plain_file *file = (plain_file *) base;
  if (file->is_constant)
    return SQLITE_READONLY;
  if (offset > file->limit - count)
    return SQLITE_FULL;
  int done = 0;
  while (done < count) {
    ssize_t put = pwrite (file->descriptor, (const char *) source + done, (size_t) (count - done), offset + done);
    if (put < 0 && EINTR == errno)
      continue;
    if (put <= 0)
      return 0 == put || ENOSPC == errno || EDQUOT == errno ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    done += (int) put;
  }
  return SQLITE_OK;
}

static int
file_truncate (sqlite3_file *base, sqlite3_int64 size)
{
  plain_file *file = (plain_file *) base;
  if (file->is_constant)
    return SQLITE_READONLY;
  return 0 == ftruncate (file->descriptor, size) ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

static int
file_sync (sqlite3_file *base, int flags)
{
  (void) base;
  (void) flags;
  return SQLITE_OK;
}

static int
file_size (sqlite3_file *base, sqlite3_int64 *size)
{
  struct stat status;
  if (0 != fstat (((plain_file *) base)->descriptor, &status))
    return SQLITE_IOERR_FSTAT;
  *size = status.st_size;
  return SQLITE_OK;
}

static int
file_lock (sqlite3_file *base, int level)
{
  (void) base;
  (void) level;
  return SQLITE_OK;
}

static int
file_check_lock (sqlite3_file *base, int *result)
{
  (void) base;
  *result = 0;
  return SQLITE_OK;
}

static int
file_control (sqlite3_file *base, int operation, void *argument)
{
  (void) base;
  (void) operation;
  (void) argument;
  return SQLITE_NOTFOUND;
}

static int
file_sector (sqlite3_file *base)
{
  (void) base;
  return 4096;
}

static int
file_traits (sqlite3_file *base)
{
  return ((plain_file *) base)->is_constant ? SQLITE_IOCAP_IMMUTABLE : SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN;
}

static const sqlite3_io_methods methods = {
  .iVersion = 1,
  .xClose = file_close,
  .xRead = file_read,
  .xWrite = file_write,
  .xTruncate = file_truncate,
  .xSync = file_sync,
  .xFileSize = file_size,
  .xLock = file_lock,
  .xUnlock = file_lock,
  .xCheckReservedLock = file_check_lock,
  .xFileControl = file_control,
  .xSectorSize = file_sector,
  .xDeviceCharacteristics = file_traits,
};

/* The content of a file that SQLite makes for itself. */
static const int64_t own_limit = (int64_t) 4 << 30;

/* A name is "descriptor limit is-constant"; a file without a name is one that SQLite makes for itself. */
static int
files_open (sqlite3_vfs *files, const char *name, sqlite3_file *base, int flags, int *out)
{
  plain_file *file = (plain_file *) base;
  (void) files;
  memset (file, 0, sizeof *file);
  if (NULL == name || 0 != (flags & SQLITE_OPEN_DELETEONCLOSE)) {
    const char *folder = getenv ("TMPDIR");
    file->descriptor = open (NULL != folder && '/' == *folder ? folder : "/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    if (file->descriptor < 0)
      return SQLITE_CANTOPEN;
    file->is_own = 1;
    file->limit = own_limit;
  } else if (0 == (flags & SQLITE_OPEN_MAIN_DB)
             || 3 != sscanf (name, "%d %" SCNd64 " %d", &file->descriptor, &file->limit, &file->is_constant))
    return SQLITE_CANTOPEN;
  if (NULL != out)
    *out = flags;
  base->pMethods = &methods;
  return SQLITE_OK;
}

static int
files_delete (sqlite3_vfs *files, const char *name, int is_synced)
{
  (void) files;
  (void) name;
  (void) is_synced;
  return SQLITE_OK;
}

static int
files_access (sqlite3_vfs *files, const char *name, int flags, int *result)
{
  (void) files;
  (void) name;
  (void) flags;
  *result = 0;
  return SQLITE_OK;
}

static int
files_full_name (sqlite3_vfs *files, const char *name, int room, char *target)
{
  (void) files;
  return snprintf (target, (size_t) room, "%s", name) < room ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int
files_random (sqlite3_vfs *files, int count, char *target)
{
  (void) files;
  memset (target, 0x5a, (size_t) count);
  return count;
}

static int
files_sleep (sqlite3_vfs *files, int microseconds)
{
  (void) files;
  return microseconds;
}

static int
files_time (sqlite3_vfs *files, sqlite3_int64 *now)
{
  (void) files;
  *now = (sqlite3_int64) time (NULL) * 1000 + INT64_C (210866760000000);
  return SQLITE_OK;
}

static int
files_day (sqlite3_vfs *files, double *now)
{
  sqlite3_int64 milliseconds;
  files_time (files, &milliseconds);
  *now = (double) milliseconds / 86400000.0;
  return SQLITE_OK;
}

static int
files_error (sqlite3_vfs *files, int room, char *target)
{
  (void) files;
  (void) room;
  (void) target;
  return errno;
}

static sqlite3_vfs files = {
  .iVersion = 2,
  .szOsFile = sizeof (plain_file),
  .mxPathname = 128,
  .zName = "realm-rest",
  .xOpen = files_open,
  .xDelete = files_delete,
  .xAccess = files_access,
  .xFullPathname = files_full_name,
  .xRandomness = files_random,
  .xSleep = files_sleep,
  .xCurrentTime = files_day,
  .xCurrentTimeInt64 = files_time,
  .xGetLastError = files_error,
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int is_registered;

/* The functions of SQLite itself, by name and number of arguments. */
typedef struct {
  char name[32];
  int arguments;
} function;

static function functions[512];
static size_t function_count;

/* Lists the functions; false when there are too many, or SQLite does not list them. */
static int
list_functions (void)
{
  sqlite3 *database = NULL;
  sqlite3_stmt *list = NULL;
  int code = SQLITE_ERROR;
  if (SQLITE_OK == sqlite3_open_v2 (":memory:", &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, NULL)
      && SQLITE_OK == sqlite3_prepare_v2 (database, "SELECT name, narg FROM pragma_function_list", -1, &list, NULL))
    while (SQLITE_ROW == (code = sqlite3_step (list))) {
      const char *name = (const char *) sqlite3_column_text (list, 0);
      if (NULL == name || function_count == sizeof functions / sizeof *functions || strlen (name) >= sizeof functions->name)
        break;
      strcpy (functions[function_count].name, name);
      functions[function_count].arguments = sqlite3_column_int (list, 1);
      function_count++;
    }
  sqlite3_finalize (list);
  sqlite3_close_v2 (database);
  return SQLITE_DONE == code && function_count > 0;
}

static void
set_up (void)
{
  static sqlite3_mem_methods bounded;
  if (SQLITE_OK != sqlite3_config (SQLITE_CONFIG_GETMALLOC, &standard))
    return;
  bounded = standard;
  bounded.xMalloc = bound_malloc;
  bounded.xFree = bound_free;
  bounded.xRealloc = bound_realloc;
  is_registered = SQLITE_OK == sqlite3_config (SQLITE_CONFIG_MALLOC, &bounded) && SQLITE_OK == sqlite3_initialize ()
                  && list_functions () && SQLITE_OK == sqlite3_vfs_register (&files, 0);
}

int
realm_rest_sqlite_set_up (void)
{
  pthread_once (&once, set_up);
  return is_registered ? SQLITE_OK : SQLITE_NOMEM;
}

/* Takes the place of every function, whatever the schema of a file calls. */
static void
refuse_call (sqlite3_context *context, int count, sqlite3_value **values)
{
  (void) count;
  (void) values;
  sqlite3_result_error (context, "functions are not called", -1);
}

/* Has every function fail in a database. They count as deterministic, so that the schema is read: it may call them anywhere. */
static int
refuse_functions (sqlite3 *database)
{
  for (size_t index = 0; index < function_count; index++) {
    int code = sqlite3_create_function_v2 (database, functions[index].name, functions[index].arguments,
                                           SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL, refuse_call, NULL, NULL,
                                           NULL);
    if (SQLITE_OK != code)
      return code;
  }
  return SQLITE_OK;
}

static int
open_file (int descriptor, int64_t limit, int is_constant, int flags, sqlite3 **database)
{
  char name[64];
  *database = NULL;
  pthread_once (&once, set_up);
  if (! is_registered)
    return SQLITE_NOMEM;
  snprintf (name, sizeof name, "%d %" PRId64 " %d", descriptor, limit, is_constant);
  int code = sqlite3_open_v2 (name, database, flags | SQLITE_OPEN_NOMUTEX, files.zName);
  if (SQLITE_OK != code) {
    sqlite3_close_v2 (*database);
    *database = NULL;
  }
  return code;
}

int
realm_rest_sqlite_create (int descriptor, int64_t limit, sqlite3 **database)
{
  int code = open_file (descriptor, limit, 0, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, database);
  if (SQLITE_OK != code)
    return code;
  code = sqlite3_exec (*database,
                       "PRAGMA page_size=4096; PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
                       "PRAGMA cache_size=-8192; PRAGMA temp_store=FILE; PRAGMA foreign_keys=OFF; PRAGMA encoding='UTF-8'",
                       NULL, NULL, NULL);
  if (SQLITE_OK != code) {
    sqlite3_close_v2 (*database);
    *database = NULL;
  }
  return code;
}

/* An untrusted file may only be read. */
static int
authorize (void *context, int action, const char *first, const char *second, const char *place, const char *source)
{
  (void) context;
  (void) second;
  (void) place;
  (void) source;
  switch (action) {
  case SQLITE_SELECT:
  case SQLITE_READ:
    return SQLITE_OK;
  case SQLITE_PRAGMA:
    return NULL != first && 0 == sqlite3_stricmp (first, "table_xinfo") ? SQLITE_OK : SQLITE_DENY;
  default:
    return SQLITE_DENY;
  }
}

int
realm_rest_sqlite_open (int descriptor, int value_limit, sqlite3 **database)
{
  static const int switches[][2] = {
    { SQLITE_DBCONFIG_DEFENSIVE, 1 }, { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 }, { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
    { SQLITE_DBCONFIG_ENABLE_VIEW, 0 }, { SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 }, { SQLITE_DBCONFIG_DQS_DDL, 0 },
    { SQLITE_DBCONFIG_DQS_DML, 0 }, { SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0 }, { SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0 },
  };
  static const int limits[][2] = {
    { SQLITE_LIMIT_SQL_LENGTH, 1 << 20 }, { SQLITE_LIMIT_COLUMN, 2000 }, { SQLITE_LIMIT_EXPR_DEPTH, 50 },
    { SQLITE_LIMIT_COMPOUND_SELECT, 2 }, { SQLITE_LIMIT_FUNCTION_ARG, 8 }, { SQLITE_LIMIT_ATTACHED, 0 },
    { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100 }, { SQLITE_LIMIT_TRIGGER_DEPTH, 1 }, { SQLITE_LIMIT_WORKER_THREADS, 0 },
  };
  int code = open_file (descriptor, 0, 1, SQLITE_OPEN_READONLY, database);
  if (SQLITE_OK != code)
    return code;
  code = refuse_functions (*database);
  if (SQLITE_OK != code) {
    sqlite3_close_v2 (*database);
    *database = NULL;
    return code;
  }
  for (size_t index = 0; index < sizeof switches / sizeof *switches; index++)
    sqlite3_db_config (*database, switches[index][0], switches[index][1], NULL);
  for (size_t index = 0; index < sizeof limits / sizeof *limits; index++)
    sqlite3_limit (*database, limits[index][0], limits[index][1]);
  sqlite3_limit (*database, SQLITE_LIMIT_LENGTH, value_limit);
  sqlite3_exec (*database, "PRAGMA mmap_size=0; PRAGMA cache_size=-4096; PRAGMA cell_size_check=ON; PRAGMA query_only=ON",
                NULL, NULL, NULL);
  sqlite3_set_authorizer (*database, authorize, NULL);
  return SQLITE_OK;
}

void
realm_rest_sqlite_watch (sqlite3 *database, int steps, realm_rest_sqlite_look look, void *context)
{
  sqlite3_progress_handler (database, steps, look, context);
}

int
realm_rest_sqlite_bind_text (sqlite3_stmt *statement, int index, const uint8_t *bytes, uint64_t count)
{
  return sqlite3_bind_text64 (statement, index, NULL == bytes ? "" : (const char *) bytes, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

int
realm_rest_sqlite_bind_blob (sqlite3_stmt *statement, int index, const uint8_t *bytes, uint64_t count)
{
  if (0 == count)
    return sqlite3_bind_zeroblob (statement, index, 0);
  return sqlite3_bind_blob64 (statement, index, bytes, count, SQLITE_TRANSIENT);
}
