#ifndef RAW_INTERNAL_H
#define RAW_INTERNAL_H

#include "RawSQLite.h"

#include <sqlite3.h>

// One place for each statement that a session prepares once.
enum {
    RAW_INSERT,
    RAW_FETCH_ALL,
    RAW_FETCH_PAGE,
    RAW_FETCH_KEY,
    RAW_FETCH_JOINED,
    RAW_LOAD,
    RAW_UPDATE,
    RAW_DELETE,
    RAW_COUNT,
    RAW_FETCH_PAIRS,
    RAW_FETCH_TRIPLES,
    RAW_FETCH_SOME,
    RAW_READ_MAX,
    RAW_WRITE_MAX,
    RAW_TRANSACTION,
    RAW_CHANGE,
    RAW_UPSERT,
    RAW_RAISE_HOME,
    RAW_RAISE_SHOP,
    RAW_RAISE_UNIT,
    RAW_STATEMENTS
};

struct raw_session {
    sqlite3 *database;
    sqlite3_stmt *statements[RAW_STATEMENTS];
    int records_history;
    int raises_owners;
    // Of the save that is under way.
    int64_t transaction;
    int64_t next_change;
};

#define RAW_ITEM_COLUMNS                                                                                     \
    "t0.Z_PK, t0.Z_ENT, t0.Z_OPT, t0.ZCOLLECTED, t0.ZLISTED, t0.ZLOCATIONATHOME, t0.ZLOCATIONATSHOP, "      \
    "t0.ZUNIT, t0.ZQUANTITY, t0.ZNAME, t0.ZPHOTO"

#define RAW_CHECK(call)                                                                                      \
    do {                                                                                                     \
        int check_code = (call);                                                                             \
        if (check_code != SQLITE_OK) return check_code;                                                      \
    } while (0)

// The statement of that place, prepared at the first use and reset since the last.
int raw_statement(raw_session *session, int place, const char *sql, sqlite3_stmt **statement);

// Where a history is recorded: takes the numbers and writes the transaction; then one call for each row.
int raw_begin_history(raw_session *session, int64_t changes);
int raw_note_change(raw_session *session, int type, int64_t entity, int64_t key);

// Takes `count` keys of the entity out of Z_PRIMARYKEY; the first one is *first.
int raw_take_keys(raw_session *session, int64_t entity, int64_t count, int64_t *first);

// Steps a statement without rows and resets it.
int raw_run(sqlite3_stmt *statement);

#endif
