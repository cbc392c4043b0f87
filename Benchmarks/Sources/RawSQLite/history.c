#include "Internal.h"

#include <time.h>

void raw_record_history(raw_session *session) { session->records_history = 1; }

int raw_begin_history(raw_session *session, int64_t changes) {
    if (!session->records_history) return SQLITE_OK;
    RAW_CHECK(raw_take_keys(session, 16002, 1, &session->transaction));
    RAW_CHECK(raw_take_keys(session, 16001, changes, &session->next_change));
    sqlite3_stmt *statement;
    RAW_CHECK(raw_statement(
        session, RAW_TRANSACTION,
        "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZAUTHORTS, ZBUNDLEIDTS, ZCONTEXTNAMETS, ZPROCESSIDTS, ZTIMESTAMP) "
        "VALUES (?, 16002, NULL, 1, NULL, 2, ?)",
        &statement));
    sqlite3_bind_int64(statement, 1, session->transaction);
    sqlite3_bind_double(statement, 2, (double)time(NULL) - 978307200.0);
    return raw_run(statement);
}

int raw_note_change(raw_session *session, int type, int64_t entity, int64_t key) {
    if (!session->records_history) return SQLITE_OK;
    sqlite3_stmt *statement;
    RAW_CHECK(raw_statement(
        session, RAW_CHANGE,
        "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS) "
        "VALUES (?, 16001, ?, ?, ?, ?, ?)",
        &statement));
    sqlite3_bind_int64(statement, 1, session->next_change++);
    sqlite3_bind_int(statement, 2, type);
    sqlite3_bind_int64(statement, 3, entity);
    sqlite3_bind_int64(statement, 4, key);
    sqlite3_bind_int64(statement, 5, session->transaction);
    // An item's quantity: behind three to-ones and three attributes; of an owner its items alone.
    if (type == 1) {
        sqlite3_bind_blob(statement, 6, entity == 1 ? "\x02\x00" : "\x01", entity == 1 ? 2 : 1, SQLITE_STATIC);
    } else {
        sqlite3_bind_null(statement, 6);
    }
    return raw_run(statement);
}
