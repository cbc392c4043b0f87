#include "Internal.h"

static int insert_row(sqlite3_stmt *statement, const raw_item *item, int64_t key) {
    sqlite3_bind_int64(statement, 1, key);
    sqlite3_bind_int64(statement, 2, 1);
    sqlite3_bind_int64(statement, 3, 1);
    sqlite3_bind_int(statement, 4, item->collected);
    sqlite3_bind_int(statement, 5, item->listed);
    sqlite3_bind_int64(statement, 6, item->home);
    sqlite3_bind_int64(statement, 7, item->shop);
    sqlite3_bind_int64(statement, 8, item->unit);
    sqlite3_bind_double(statement, 9, item->quantity);
    sqlite3_bind_text(statement, 10, item->name, item->name_length, SQLITE_STATIC);
    sqlite3_bind_null(statement, 11);
    return raw_run(statement);
}

int raw_take_keys(raw_session *session, int64_t entity, int64_t count, int64_t *first) {
    sqlite3_stmt *read, *write;
    RAW_CHECK(raw_statement(session, RAW_READ_MAX, "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", &read));
    RAW_CHECK(raw_statement(session, RAW_WRITE_MAX, "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?", &write));
    sqlite3_bind_int64(read, 1, entity);
    int code = sqlite3_step(read);
    if (code != SQLITE_ROW) return code == SQLITE_DONE ? SQLITE_CORRUPT : code;
    *first = sqlite3_column_int64(read, 0) + 1;
    sqlite3_reset(read);
    sqlite3_bind_int64(write, 1, *first + count - 1);
    sqlite3_bind_int64(write, 2, entity);
    return raw_run(write);
}

static int insert_statement(raw_session *session, sqlite3_stmt **statement) {
    return raw_statement(
        session, RAW_INSERT,
        "INSERT INTO ZITEM(Z_PK, Z_ENT, Z_OPT, ZCOLLECTED, ZLISTED, ZLOCATIONATHOME, ZLOCATIONATSHOP, ZUNIT, "
        "ZQUANTITY, ZNAME, ZPHOTO) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        statement);
}

void raw_raise_owners(raw_session *session) { session->raises_owners = 1; }

static int raise_owner(raw_session *session, int place, const char *sql, int64_t entity, int64_t key) {
    sqlite3_stmt *statement;
    RAW_CHECK(raw_statement(session, place, sql, &statement));
    sqlite3_bind_int64(statement, 1, key);
    RAW_CHECK(raw_run(statement));
    if (sqlite3_changes(session->database) != 1) return SQLITE_BUSY_SNAPSHOT;
    return raw_note_change(session, 1, entity, key);
}

static int raise_owners(raw_session *session, const raw_item *item) {
    RAW_CHECK(raise_owner(
        session, RAW_RAISE_HOME, "UPDATE ZLOCATIONATHOME SET Z_OPT = Z_OPT + 1 WHERE Z_PK = ?", 2, item->home));
    RAW_CHECK(raise_owner(
        session, RAW_RAISE_SHOP, "UPDATE ZLOCATIONATSHOP SET Z_OPT = Z_OPT + 1 WHERE Z_PK = ?", 3, item->shop));
    return raise_owner(session, RAW_RAISE_UNIT, "UPDATE ZUNIT SET Z_OPT = Z_OPT + 1 WHERE Z_PK = ?", 4, item->unit);
}

int raw_insert(raw_session *session, const raw_item *items, int64_t count) {
    RAW_CHECK(raw_exec(session, "BEGIN IMMEDIATE"));
    int64_t key;
    RAW_CHECK(raw_take_keys(session, 1, count, &key));
    RAW_CHECK(raw_begin_history(session, session->raises_owners ? 4 * count : count));
    sqlite3_stmt *statement;
    RAW_CHECK(insert_statement(session, &statement));
    for (int64_t index = 0; index < count; index++) RAW_CHECK(insert_row(statement, &items[index], key + index));
    for (int64_t index = 0; index < count && session->raises_owners; index++) RAW_CHECK(raise_owners(session, &items[index]));
    for (int64_t index = 0; index < count; index++) RAW_CHECK(raw_note_change(session, 0, 1, key + index));
    return raw_exec(session, "COMMIT");
}

int raw_insert_each(raw_session *session, const raw_item *items, int64_t count) {
    for (int64_t index = 0; index < count; index++) RAW_CHECK(raw_insert(session, &items[index], 1));
    return SQLITE_OK;
}

int raw_upsert(raw_session *session, const raw_item *items, int64_t count, double more) {
    RAW_CHECK(raw_exec(session, "BEGIN IMMEDIATE"));
    int64_t key;
    RAW_CHECK(raw_take_keys(session, 1, count, &key));
    sqlite3_stmt *statement;
    RAW_CHECK(raw_statement(
        session, RAW_UPSERT,
        "INSERT INTO ZITEM(Z_PK, Z_ENT, Z_OPT, ZCOLLECTED, ZLISTED, ZQUANTITY, ZNAME) VALUES(?, 1, 1, 0, 1, ?, ?) "
        "ON CONFLICT(ZNAME) DO UPDATE SET ZQUANTITY = excluded.ZQUANTITY, Z_OPT = Z_OPT + 1",
        &statement));
    for (int64_t index = 0; index < count; index++) {
        sqlite3_bind_int64(statement, 1, key + index);
        sqlite3_bind_double(statement, 2, items[index].quantity + more);
        sqlite3_bind_text(statement, 3, items[index].name, items[index].name_length, SQLITE_STATIC);
        RAW_CHECK(raw_run(statement));
    }
    return raw_exec(session, "COMMIT");
}

int raw_load(raw_session *session, raw_row *rows, int64_t count) {
    sqlite3_stmt *statement;
    RAW_CHECK(raw_statement(
        session, RAW_LOAD, "SELECT Z_PK, Z_OPT, ZQUANTITY FROM ZITEM ORDER BY Z_PK", &statement));
    int64_t found = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW && found < count) {
        rows[found].key = sqlite3_column_int64(statement, 0);
        rows[found].version = sqlite3_column_int64(statement, 1);
        rows[found].quantity = sqlite3_column_double(statement, 2);
        found++;
    }
    sqlite3_reset(statement);
    if (code != SQLITE_DONE) return code == SQLITE_ROW ? SQLITE_TOOBIG : code;
    return found == count ? SQLITE_OK : SQLITE_NOTFOUND;
}

int raw_update(raw_session *session, raw_row *rows, int64_t count) {
    RAW_CHECK(raw_exec(session, "BEGIN IMMEDIATE"));
    sqlite3_stmt *statement;
    RAW_CHECK(raw_begin_history(session, count));
    RAW_CHECK(raw_statement(
        session, RAW_UPDATE, "UPDATE ZITEM SET ZQUANTITY = ?, Z_OPT = ? WHERE Z_PK = ? AND Z_OPT = ?", &statement));
    for (int64_t index = 0; index < count; index++) {
        raw_row *row = &rows[index];
        row->quantity += 1;
        sqlite3_bind_double(statement, 1, row->quantity);
        sqlite3_bind_int64(statement, 2, row->version + 1);
        sqlite3_bind_int64(statement, 3, row->key);
        sqlite3_bind_int64(statement, 4, row->version);
        RAW_CHECK(raw_run(statement));
        if (sqlite3_changes(session->database) != 1) return SQLITE_BUSY_SNAPSHOT;
        row->version += 1;
    }
    for (int64_t index = 0; index < count; index++) RAW_CHECK(raw_note_change(session, 1, 1, rows[index].key));
    return raw_exec(session, "COMMIT");
}

int raw_delete(raw_session *session, const raw_row *rows, int64_t count) {
    RAW_CHECK(raw_exec(session, "BEGIN IMMEDIATE"));
    sqlite3_stmt *statement;
    RAW_CHECK(raw_begin_history(session, count));
    for (int64_t index = 0; index < count; index++) RAW_CHECK(raw_note_change(session, 2, 1, rows[index].key));
    RAW_CHECK(raw_statement(
        session, RAW_DELETE, "DELETE FROM ZITEM WHERE Z_PK = ? AND Z_OPT = ?", &statement));
    for (int64_t index = 0; index < count; index++) {
        sqlite3_bind_int64(statement, 1, rows[index].key);
        sqlite3_bind_int64(statement, 2, rows[index].version);
        RAW_CHECK(raw_run(statement));
        if (sqlite3_changes(session->database) != 1) return SQLITE_BUSY_SNAPSHOT;
    }
    return raw_exec(session, "COMMIT");
}

int raw_copy_rows(raw_session *from, raw_session *to, const char *select, const char *insert) {
    sqlite3_stmt *reading, *writing;
    RAW_CHECK(sqlite3_prepare_v2(from->database, select, -1, &reading, NULL));
    int code = sqlite3_prepare_v2(to->database, insert, -1, &writing, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(reading)) == SQLITE_ROW) {
        code = SQLITE_OK;
        for (int column = 0; column < sqlite3_column_count(reading) && code == SQLITE_OK; column++) {
            code = sqlite3_bind_value(writing, column + 1, sqlite3_column_value(reading, column));
        }
        if (code == SQLITE_OK) code = raw_run(writing);
    }
    sqlite3_finalize(reading);
    sqlite3_finalize(writing);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}
