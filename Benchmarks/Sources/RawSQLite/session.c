#include "Internal.h"

#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#include <malloc.h>
#endif

int raw_open(const char *path, raw_session **session) {
    raw_session *made = calloc(1, sizeof(raw_session));
    if (made == NULL) return SQLITE_NOMEM;
    *session = made;
    RAW_CHECK(sqlite3_open_v2(
        path, &made->database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL));
    // The settings of every side.
    return raw_exec(
        made, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-65536");
}

void raw_close(raw_session *session) {
    if (session == NULL) return;
    for (int place = 0; place < RAW_STATEMENTS; place++) sqlite3_finalize(session->statements[place]);
    sqlite3_close(session->database);
    free(session);
}

const char *raw_message(raw_session *session) {
    return session == NULL ? "out of memory" : sqlite3_errmsg(session->database);
}

int raw_exec(raw_session *session, const char *sql) {
    return sqlite3_exec(session->database, sql, NULL, NULL, NULL);
}

int raw_row_text(raw_session *session, const char *sql, char **text) {
    sqlite3_stmt *statement;
    RAW_CHECK(sqlite3_prepare_v2(session->database, sql, -1, &statement, NULL));
    sqlite3_str *joined = sqlite3_str_new(session->database);
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        for (int column = 0; column < sqlite3_column_count(statement); column++) {
            const unsigned char *value = sqlite3_column_text(statement, column);
            sqlite3_str_appendf(joined, "%s%s", column == 0 ? "" : "|", value == NULL ? "" : (const char *)value);
        }
    }
    const char *value = sqlite3_str_value(joined);
    *text = strdup(value == NULL ? "" : value);
    sqlite3_free(sqlite3_str_finish(joined));
    sqlite3_finalize(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

int raw_statement(raw_session *session, int place, const char *sql, sqlite3_stmt **statement) {
    if (session->statements[place] == NULL) {
        RAW_CHECK(sqlite3_prepare_v3(
            session->database, sql, -1, SQLITE_PREPARE_PERSISTENT, &session->statements[place], NULL));
    }
    *statement = session->statements[place];
    return SQLITE_OK;
}

int raw_run(sqlite3_stmt *statement) {
    int code = sqlite3_step(statement);
    int reset = sqlite3_reset(statement);
    return code == SQLITE_DONE ? reset : code;
}

int64_t raw_heap_in_use(void) {
#ifdef __GLIBC__
    struct mallinfo2 info = mallinfo2();
    return (int64_t)(info.uordblks + info.hblkhd) - sqlite3_memory_used();
#else
    return 0;
#endif
}

const char *raw_sqlite_version(void) { return sqlite3_libversion(); }

const char *raw_libc_version(void) {
#ifdef __GLIBC__
    return gnu_get_libc_version();
#else
    return "unknown";
#endif
}
