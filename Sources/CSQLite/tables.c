// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "realm_sqlite_tables.h"
#include "bounds.h"
#include <stdlib.h>
#include <string.h>

/* The table of a program, as SQLite keeps it with the name. */
typedef struct {
  void *table;
  realm_rest_sqlite_functions functions;
} source;

typedef struct {
  sqlite3_vtab base;
  const source *source;
} live_table;

typedef struct {
  sqlite3_vtab_cursor base;
  const realm_rest_sqlite_functions *functions;
  void *cursor;
  int is_end;
} live_cursor;

/* Whether this thread declares the columns of a table, which the authorizer takes for a change of the schema. */
static _Thread_local int is_declaring;

static int
table_connect (sqlite3 *database, void *context, int count, const char *const *words, sqlite3_vtab **made, char **message)
{
  const source *from = context;
  (void) count;
  (void) words;
  (void) message;
  is_declaring = 1;
  int code = from->functions.connect (from->table, database);
  is_declaring = 0;
  if (SQLITE_OK != code)
    return code;
  live_table *table = sqlite3_malloc (sizeof *table);
  if (NULL == table)
    return SQLITE_NOMEM;
  memset (table, 0, sizeof *table);
  table->source = from;
  *made = &table->base;
  return SQLITE_OK;
}

static int
table_disconnect (sqlite3_vtab *table)
{
  sqlite3_free (table);
  return SQLITE_OK;
}

static int
table_plan (sqlite3_vtab *base, sqlite3_index_info *info)
{
  const source *from = ((live_table *) base)->source;
  return from->functions.plan (from->table, info);
}

static int
table_open (sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
  const source *from = ((live_table *) base)->source;
  live_cursor *cursor = sqlite3_malloc (sizeof *cursor);
  if (NULL == cursor)
    return SQLITE_NOMEM;
  memset (cursor, 0, sizeof *cursor);
  cursor->functions = &from->functions;
  cursor->cursor = from->functions.open (from->table);
  cursor->is_end = 1;
  if (NULL == cursor->cursor) {
    sqlite3_free (cursor);
    return SQLITE_NOMEM;
  }
  *made = &cursor->base;
  return SQLITE_OK;
}

static int
cursor_close (sqlite3_vtab_cursor *base)
{
  live_cursor *cursor = (live_cursor *) base;
  cursor->functions->close (cursor->cursor);
  sqlite3_free (cursor);
  return SQLITE_OK;
}

static int
noted (live_cursor *cursor, int code)
{
  cursor->is_end = SQLITE_ROW != code;
  return SQLITE_ROW == code || SQLITE_DONE == code ? SQLITE_OK : code;
}

static int
cursor_filter (sqlite3_vtab_cursor *base, int plan, const char *text, int count, sqlite3_value **values)
{
  live_cursor *cursor = (live_cursor *) base;
  (void) text;
  return noted (cursor, cursor->functions->filter (cursor->cursor, plan, count, values));
}

static int
cursor_next (sqlite3_vtab_cursor *base)
{
  live_cursor *cursor = (live_cursor *) base;
  return noted (cursor, cursor->functions->next (cursor->cursor));
}

static int
cursor_is_end (sqlite3_vtab_cursor *base)
{
  return ((live_cursor *) base)->is_end;
}

static int
cursor_column (sqlite3_vtab_cursor *base, sqlite3_context *result, int column)
{
  live_cursor *cursor = (live_cursor *) base;
  return cursor->functions->column (cursor->cursor, result, column);
}

static int
cursor_row (sqlite3_vtab_cursor *base, sqlite3_int64 *row)
{
  live_cursor *cursor = (live_cursor *) base;
  *row = cursor->functions->row (cursor->cursor);
  return SQLITE_OK;
}

/* Without xCreate the name of the module is that of its only table. */
static const sqlite3_module module = {
  .iVersion = 0,
  .xConnect = table_connect,
  .xBestIndex = table_plan,
  .xDisconnect = table_disconnect,
  .xDestroy = table_disconnect,
  .xOpen = table_open,
  .xClose = cursor_close,
  .xFilter = cursor_filter,
  .xNext = cursor_next,
  .xEof = cursor_is_end,
  .xColumn = cursor_column,
  .xRowid = cursor_row,
};

int
realm_rest_sqlite_add (sqlite3 *database, const char *name, void *table, const realm_rest_sqlite_functions *functions)
{
  source *made = sqlite3_malloc (sizeof *made);
  if (NULL == made)
    return SQLITE_NOMEM;
  *made = (source) { .table = table, .functions = *functions };
  /* SQLite releases it even when it fails. */
  return sqlite3_create_module_v2 (database, name, &module, made, sqlite3_free);
}

int
realm_rest_sqlite_describe (sqlite3_index_info *info, const char *text)
{
  info->idxStr = sqlite3_mprintf ("%s", text);
  info->needToFreeIdxStr = 1;
  return NULL == info->idxStr ? SQLITE_NOMEM : SQLITE_OK;
}

void
realm_rest_sqlite_result_text (sqlite3_context *result, const uint8_t *bytes, uint64_t count)
{
  sqlite3_result_text64 (result, NULL == bytes ? "" : (const char *) bytes, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

void
realm_rest_sqlite_result_blob (sqlite3_context *result, const uint8_t *bytes, uint64_t count)
{
  if (0 == count)
    sqlite3_result_zeroblob (result, 0);
  else
    sqlite3_result_blob64 (result, bytes, count, SQLITE_TRANSIENT);
}

/* Functions of SQLite that take a time which grows with the product of two lengths have a replacement that does not, or that asks
   before a long value whether there is time. The results are the same. */

static int
has_null (int count, sqlite3_value **values)
{
  for (int index = 0; index < count; index++)
    if (SQLITE_NULL == sqlite3_value_type (values[index]))
      return 1;
  return 0;
}

/* The number of characters in bytes of UTF-8, as SQLite counts them. */
static int64_t
characters (const unsigned char *bytes, const unsigned char *end)
{
  int64_t count = 0;
  for (; bytes < end; count++)
    if (*bytes++ >= 0xc0)
      while (bytes < end && 0x80 == (*bytes & 0xc0))
        bytes++;
  return count;
}

static void
call_instr (sqlite3_context *result, int count, sqlite3_value **values)
{
  if (has_null (count, values))
    return;
  int is_blob = SQLITE_BLOB == sqlite3_value_type (values[0]) && SQLITE_BLOB == sqlite3_value_type (values[1]);
  const unsigned char *text = is_blob ? sqlite3_value_blob (values[0]) : sqlite3_value_text (values[0]);
  const unsigned char *wanted = is_blob ? sqlite3_value_blob (values[1]) : sqlite3_value_text (values[1]);
  size_t length = (size_t) sqlite3_value_bytes (values[0]), wanted_length = (size_t) sqlite3_value_bytes (values[1]);
  if (0 == wanted_length) {
    sqlite3_result_int (result, 1);
    return;
  }
  if ((0 != length && NULL == text) || NULL == wanted || realm_rest_sqlite_is_over (length)) {
    sqlite3_result_error_nomem (result);
    return;
  }
  const unsigned char *end = text + length;
  for (const unsigned char *from = text; NULL != from && from < end;) {
    const unsigned char *found = memmem (from, (size_t) (end - from), wanted, wanted_length);
    if (NULL == found)
      break;
    /* A match begins with a character: at the start, or with a byte that continues none. */
    if (is_blob || found == text || 0x80 != (*found & 0xc0)) {
      int64_t place = 1;
      for (const unsigned char *byte = text + 1; byte <= found; byte++)
        place += is_blob || 0x80 != (*byte & 0xc0);
      sqlite3_result_int64 (result, place);
      return;
    }
    from = found + 1;
  }
  sqlite3_result_int (result, 0);
}

static void
call_replace (sqlite3_context *result, int count, sqlite3_value **values)
{
  const char *text = (const char *) sqlite3_value_text (values[0]);
  size_t length = (size_t) sqlite3_value_bytes (values[0]);
  (void) count;
  if (NULL == text)
    return;
  const char *wanted = (const char *) sqlite3_value_text (values[1]);
  size_t wanted_length = (size_t) sqlite3_value_bytes (values[1]);
  if (NULL == wanted)
    return;
  if (0 == wanted_length || '\0' == *wanted) {
    sqlite3_result_value (result, values[0]);
    return;
  }
  const char *other = (const char *) sqlite3_value_text (values[2]);
  if (NULL == other)
    return;
  size_t other_length = (size_t) sqlite3_value_bytes (values[2]);
  if (realm_rest_sqlite_is_over (length)) {
    sqlite3_result_error_nomem (result);
    return;
  }
  sqlite3_str *made = sqlite3_str_new (sqlite3_context_db_handle (result));
  const char *end = text + length, *from = text;
  for (const char *found; NULL != (found = memmem (from, (size_t) (end - from), wanted, wanted_length));
       from = found + wanted_length) {
    sqlite3_str_append (made, from, (int) (found - from));
    sqlite3_str_append (made, other, (int) other_length);
    if (SQLITE_OK != sqlite3_str_errcode (made))
      break;
  }
  sqlite3_str_append (made, from, (int) (end - from));
  int code = sqlite3_str_errcode (made), made_length = sqlite3_str_length (made);
  char *bytes = sqlite3_str_finish (made);
  if (SQLITE_OK == code)
    sqlite3_result_text (result, NULL == bytes ? "" : bytes, made_length, NULL == bytes ? SQLITE_STATIC : sqlite3_free);
  else {
    sqlite3_free (bytes);
    sqlite3_result_error_code (result, code);
  }
}

/* LIKE, GLOB and trim: the work on a long value begins only while there is time, and patterns are short. */
enum { PATTERN_LIMIT = 256, TRIM_LIMIT = 256 };

static void
call_like (sqlite3_context *result, int count, sqlite3_value **values)
{
  unsigned escape = 0;
  int is_glob = NULL != sqlite3_user_data (result);
  if (SQLITE_BLOB == sqlite3_value_type (values[0]) || SQLITE_BLOB == sqlite3_value_type (values[1])) {
    sqlite3_result_int (result, 0);
    return;
  }
  if (sqlite3_value_bytes (values[0]) > PATTERN_LIMIT) {
    sqlite3_result_error (result, "LIKE or GLOB pattern too complex", -1);
    return;
  }
  if (3 == count) {
    const unsigned char *text = sqlite3_value_text (values[2]);
    if (NULL == text)
      return;
    if (1 != characters (text, text + sqlite3_value_bytes (values[2])) || *text >= 0x80) {
      sqlite3_result_error (result, "ESCAPE expression must be a single character of ASCII", -1);
      return;
    }
    escape = *text;
  }
  const char *pattern = (const char *) sqlite3_value_text (values[0]);
  const char *text = (const char *) sqlite3_value_text (values[1]);
  if (NULL == pattern || NULL == text)
    return;
  if (realm_rest_sqlite_is_over ((uint64_t) sqlite3_value_bytes (values[1])))
    sqlite3_result_error_nomem (result);
  else
    sqlite3_result_int (result, 0 == (is_glob ? sqlite3_strglob (pattern, text) : sqlite3_strlike (pattern, text, escape)));
}

/* The number of bytes of the character at the start of a text. */
static size_t
character_length (const unsigned char *text, const unsigned char *end)
{
  const unsigned char *next = text + 1;
  if (*text >= 0xc0)
    while (next < end && 0x80 == (*next & 0xc0))
      next++;
  return (size_t) (next - text);
}

static void
call_trim (sqlite3_context *result, int count, sqlite3_value **values)
{
  int sides = (int) (intptr_t) sqlite3_user_data (result);
  const unsigned char *text = sqlite3_value_text (values[0]);
  size_t length = (size_t) sqlite3_value_bytes (values[0]);
  const unsigned char *set = 1 == count ? (const unsigned char *) " " : sqlite3_value_text (values[1]);
  /* The set ends with the character U+0000. */
  size_t set_length = NULL == set ? 0 : strlen ((const char *) set);
  if (NULL == text || NULL == set)
    return;
  if (set_length > TRIM_LIMIT) {
    sqlite3_result_error (result, "the set of characters to trim is too long", -1);
    return;
  }
  if (realm_rest_sqlite_is_over (length)) {
    sqlite3_result_error_nomem (result);
    return;
  }
  const unsigned char *end = text + length, *set_end = set + set_length;
  unsigned rounds = 0;
  for (int side = 1; side <= 2; side++) {
    int goes_on = 0 != (sides & side);
    while (goes_on && text < end) {
      if (0 == ++rounds % (1 << 16) && realm_rest_sqlite_is_over (length)) {
        sqlite3_result_error_nomem (result);
        return;
      }
      goes_on = 0;
      for (const unsigned char *one = set; one < set_end && ! goes_on;) {
        size_t width = character_length (one, set_end);
        if (width <= (size_t) (end - text) && 0 == memcmp (1 == side ? text : end - width, one, width)) {
          goes_on = 1;
          if (1 == side)
            text += width;
          else
            end -= width;
        }
        one += width;
      }
    }
  }
  sqlite3_result_text (result, (const char *) text, (int) (end - text), SQLITE_TRANSIENT);
}

static int
add_functions (sqlite3 *database)
{
  static char glob;
  static const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  const struct {
    const char *name;
    int count;
    void *context;
    void (*call) (sqlite3_context *, int, sqlite3_value **);
  } list[] = {
    { "instr", 2, NULL, call_instr },         { "replace", 3, NULL, call_replace },
    { "like", 2, NULL, call_like },           { "like", 3, NULL, call_like },
    { "glob", 2, &glob, call_like },          { "trim", 1, (void *) 3, call_trim },
    { "trim", 2, (void *) 3, call_trim },     { "ltrim", 1, (void *) 1, call_trim },
    { "ltrim", 2, (void *) 1, call_trim },    { "rtrim", 1, (void *) 2, call_trim },
    { "rtrim", 2, (void *) 2, call_trim },
  };
  for (size_t index = 0; index < sizeof list / sizeof *list; index++) {
    int code = sqlite3_create_function_v2 (database, list[index].name, list[index].count, flags, list[index].context,
                                           list[index].call, NULL, NULL, NULL);
    if (SQLITE_OK != code)
      return code;
  }
  return SQLITE_OK;
}

/* The functions that a query may call, in the order of their bytes. */
static const char *const permitted[] = {
  "->", "->>", "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "avg", "ceil", "ceiling", "char", "coalesce",
  "cos", "cosh", "count", "cume_dist", "current_date", "current_time", "current_timestamp", "date", "datetime", "degrees",
  "dense_rank", "exp", "first_value", "floor", "format", "glob", "group_concat", "hex", "ifnull", "iif", "instr", "json",
  "json_array", "json_array_length", "json_extract", "json_group_array", "json_group_object", "json_insert", "json_object",
  "json_patch", "json_quote", "json_remove", "json_replace", "json_set", "json_type", "json_valid", "julianday", "lag",
  "last_value", "lead", "length", "like", "likelihood", "likely", "ln", "log", "log10", "log2", "lower", "ltrim", "max", "min",
  "mod", "nth_value", "ntile", "nullif", "percent_rank", "pi", "pow", "power", "printf", "quote", "radians", "random",
  "randomblob", "rank", "replace", "round", "row_number", "rtrim", "sign", "sin", "sinh", "soundex", "sqlite_version", "sqrt",
  "strftime", "substr", "substring", "subtype", "sum", "tan", "tanh", "time", "timediff", "total", "trim", "trunc", "typeof",
  "unhex", "unicode", "unixepoch", "unlikely", "upper", "zeroblob",
};

static int
compare_names (const void *left, const void *right)
{
  return strcmp (*(const char *const *) left, *(const char *const *) right);
}

static int
is_permitted (const char *name)
{
  return NULL != name
         && NULL != bsearch (&name, permitted, sizeof permitted / sizeof *permitted, sizeof *permitted, compare_names);
}

static int
authorize (void *context, int action, const char *first, const char *second, const char *place, const char *source)
{
  (void) context;
  (void) first;
  (void) place;
  (void) source;
  if (is_declaring)
    return SQLITE_OK;
  switch (action) {
  case SQLITE_SELECT:
  case SQLITE_RECURSIVE:
  case SQLITE_READ:
    return SQLITE_OK;
  case SQLITE_FUNCTION:
    return is_permitted (second) ? SQLITE_OK : SQLITE_DENY;
  default:
    return SQLITE_DENY;
  }
}

static void
restrict_to_reading (sqlite3 *database, int value_limit, int text_limit)
{
  static const int switches[][2] = {
    { SQLITE_DBCONFIG_DEFENSIVE, 1 }, { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 }, { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
    { SQLITE_DBCONFIG_ENABLE_VIEW, 0 }, { SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
    { SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0 }, { SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0 },
  };
  static const int limits[][2] = {
    { SQLITE_LIMIT_COLUMN, 2000 }, { SQLITE_LIMIT_EXPR_DEPTH, 200 }, { SQLITE_LIMIT_COMPOUND_SELECT, 100 },
    { SQLITE_LIMIT_FUNCTION_ARG, 100 }, { SQLITE_LIMIT_ATTACHED, 0 }, { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, PATTERN_LIMIT },
    { SQLITE_LIMIT_TRIGGER_DEPTH, 1 }, { SQLITE_LIMIT_WORKER_THREADS, 0 }, { SQLITE_LIMIT_VDBE_OP, 1 << 20 },
  };
  for (size_t index = 0; index < sizeof switches / sizeof *switches; index++)
    sqlite3_db_config (database, switches[index][0], switches[index][1], NULL);
  for (size_t index = 0; index < sizeof limits / sizeof *limits; index++)
    sqlite3_limit (database, limits[index][0], limits[index][1]);
  sqlite3_limit (database, SQLITE_LIMIT_LENGTH, value_limit);
  sqlite3_limit (database, SQLITE_LIMIT_SQL_LENGTH, text_limit);
  sqlite3_set_authorizer (database, authorize, NULL);
}

int
realm_rest_sqlite_live (int value_limit, int text_limit, sqlite3 **database)
{
  *database = NULL;
  int code = realm_rest_sqlite_set_up ();
  if (SQLITE_OK != code)
    return code;
  /* Sorting and temporary tables take memory, which is bounded, and no files. */
  /* Of the tables that SQLite has itself, those of JSON are left. Its pragmas are refused. */
  static const char *kept[] = { "json_each", "json_tree", NULL };
  code = sqlite3_open_v2 (":memory:", database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, "realm-rest");
  if (SQLITE_OK == code)
    code = sqlite3_exec (*database, "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-2000", NULL, NULL, NULL);
  if (SQLITE_OK == code)
    code = sqlite3_drop_modules (*database, kept);
  if (SQLITE_OK == code)
    code = add_functions (*database);
  if (SQLITE_OK == code) {
    restrict_to_reading (*database, value_limit, text_limit);
    return SQLITE_OK;
  }
  sqlite3_close_v2 (*database);
  *database = NULL;
  return code;
}
