#include "Internal.h"

// Reads what every fetch of items reads: name, quantity, listed.
static inline void read_item(sqlite3_stmt *statement, raw_digest *digest) {
    digest->rows += 1;
    digest->number += sqlite3_column_double(statement, 8) + sqlite3_column_int(statement, 4);
    const unsigned char *name = sqlite3_column_text(statement, 9);
    if (name != NULL) digest->bytes += sqlite3_column_bytes(statement, 9);
}

static int read_items(sqlite3_stmt *statement, raw_digest *digest) {
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) read_item(statement, digest);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

int raw_fetch_all(raw_session *session, raw_digest *digest) {
    sqlite3_stmt *statement;
    RAW_CHECK(raw_statement(session, RAW_FETCH_ALL, "SELECT " RAW_ITEM_COLUMNS " FROM ZITEM t0", &statement));
    return read_items(statement, digest);
}

int raw_fetch_page(raw_session *session, raw_digest *digest) {
    sqlite3_stmt *statement;
    RAW_CHECK(raw_statement(
        session, RAW_FETCH_PAGE,
        "SELECT " RAW_ITEM_COLUMNS " FROM ZITEM t0 WHERE t0.ZLISTED = ? AND t0.ZQUANTITY >= ? "
        "ORDER BY t0.ZNAME LIMIT 20",
        &statement));
    sqlite3_bind_int(statement, 1, 1);
    sqlite3_bind_double(statement, 2, 20);
    return read_items(statement, digest);
}

int raw_fetch_keys(raw_session *session, const int64_t *keys, int64_t count, raw_digest *digest) {
    sqlite3_stmt *statement;
    RAW_CHECK(raw_exec(session, "BEGIN"));
    RAW_CHECK(raw_statement(
        session, RAW_FETCH_KEY, "SELECT " RAW_ITEM_COLUMNS " FROM ZITEM t0 WHERE t0.Z_PK = ?", &statement));
    for (int64_t index = 0; index < count; index++) {
        sqlite3_bind_int64(statement, 1, keys[index]);
        int code = sqlite3_step(statement);
        if (code != SQLITE_ROW) return code == SQLITE_DONE ? SQLITE_NOTFOUND : code;
        read_item(statement, digest);
        sqlite3_reset(statement);
    }
    return raw_exec(session, "COMMIT");
}

int raw_fetch_joined(raw_session *session, raw_digest *digest) {
    sqlite3_stmt *statement;
    RAW_CHECK(raw_statement(
        session, RAW_FETCH_JOINED,
        "SELECT " RAW_ITEM_COLUMNS ", t1.Z_PK, t1.Z_ENT, t1.Z_OPT, t1.ZSTOREDIN FROM ZITEM t0 "
        "LEFT JOIN ZLOCATIONATHOME t1 ON t1.Z_PK = t0.ZLOCATIONATHOME",
        &statement));
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        digest->rows += 1;
        const unsigned char *name = sqlite3_column_text(statement, 14);
        if (name != NULL) digest->bytes += sqlite3_column_bytes(statement, 14);
    }
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

int raw_count(raw_session *session, raw_digest *digest) {
    sqlite3_stmt *statement;
    RAW_CHECK(raw_statement(
        session, RAW_COUNT, "SELECT COUNT(*) FROM ZITEM t0 WHERE t0.ZLISTED = ? AND t0.ZQUANTITY >= ?", &statement));
    sqlite3_bind_int(statement, 1, 1);
    sqlite3_bind_double(statement, 2, 20);
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) digest->rows += sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return code == SQLITE_ROW ? SQLITE_OK : code;
}

int raw_fetch_pairs(raw_session *session, raw_digest *digest) {
    sqlite3_stmt *statement;
    RAW_CHECK(raw_statement(session, RAW_FETCH_PAIRS, "SELECT t0.ZNAME, t0.ZQUANTITY FROM ZITEM t0", &statement));
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        digest->rows += 1;
        const unsigned char *name = sqlite3_column_text(statement, 0);
        if (name != NULL) digest->bytes += sqlite3_column_bytes(statement, 0);
        digest->number += sqlite3_column_double(statement, 1);
    }
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

int raw_fetch_triples(raw_session *session, raw_digest *digest) {
    sqlite3_stmt *statement;
    RAW_CHECK(raw_statement(
        session, RAW_FETCH_TRIPLES, "SELECT t0.ZNAME, t0.ZQUANTITY, t0.ZLISTED FROM ZITEM t0", &statement));
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        digest->rows += 1;
        const unsigned char *name = sqlite3_column_text(statement, 0);
        if (name != NULL) digest->bytes += sqlite3_column_bytes(statement, 0);
        digest->number += sqlite3_column_double(statement, 1) + sqlite3_column_int(statement, 2);
    }
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

int raw_fetch_some(raw_session *session, int64_t limit, raw_digest *digest) {
    sqlite3_stmt *statement;
    RAW_CHECK(raw_statement(
        session, RAW_FETCH_SOME, "SELECT " RAW_ITEM_COLUMNS " FROM ZITEM t0 LIMIT ?", &statement));
    sqlite3_bind_int64(statement, 1, limit);
    return read_items(statement, digest);
}

int raw_sum(raw_session *session, const char *sql, raw_digest *digest) {
    sqlite3_stmt *statement;
    RAW_CHECK(sqlite3_prepare_v2(session->database, sql, -1, &statement, NULL));
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        digest->rows += 1;
        for (int column = 3; column < sqlite3_column_count(statement); column++) {
            if (sqlite3_column_type(statement, column) == SQLITE_TEXT) {
                if (sqlite3_column_text(statement, column) != NULL) digest->bytes += sqlite3_column_bytes(statement, column);
            } else {
                digest->number += sqlite3_column_double(statement, column);
            }
        }
    }
    sqlite3_finalize(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

int raw_open_store(const char *path, raw_session **session) {
    RAW_CHECK(raw_open(path, session));
    sqlite3_stmt *metadata;
    RAW_CHECK(sqlite3_prepare_v2(
        (*session)->database, "SELECT Z_VERSION, Z_UUID, Z_PLIST FROM Z_METADATA", -1, &metadata, NULL));
    int code = sqlite3_step(metadata);
    int plist = code == SQLITE_ROW ? sqlite3_column_bytes(metadata, 2) : 0;
    sqlite3_finalize(metadata);
    if (plist == 0) return code == SQLITE_ROW ? SQLITE_CORRUPT : code;
    return SQLITE_OK;
}

int raw_open_and_fetch(const char *path, raw_session **session, raw_digest *digest) {
    RAW_CHECK(raw_open_store(path, session));
    sqlite3_stmt *items;
    RAW_CHECK(sqlite3_prepare_v2(
        (*session)->database, "SELECT " RAW_ITEM_COLUMNS " FROM ZITEM t0 LIMIT 20", -1, &items, NULL));
    int code = read_items(items, digest);
    sqlite3_finalize(items);
    return code;
}
