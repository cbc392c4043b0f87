#include "Internal.h"

#include <stdio.h>

int64_t raw_home_count(int64_t count) { return count < 10 ? 1 : count / 10; }

int64_t raw_shop_count(int64_t count) { return count < 100 ? 1 : count / 100; }

int64_t raw_unit_count(void) { return 20; }

raw_item raw_make_item(int64_t key, int64_t count) {
    raw_item item = {.key = key};
    item.home = 1 + key * 31 % raw_home_count(count);
    item.shop = 1 + key * 17 % raw_shop_count(count);
    item.unit = 1 + key % raw_unit_count();
    // Quarters below 25: exact in a float, so that sums can be compared.
    item.quantity = (double)(key * 37 % 100) * 0.25;
    item.collected = key % 5 == 0;
    item.listed = key % 3 != 0;
    // Half the names fit into a small Swift string of 12 bytes, half take 30. The number is prime to 10^7: every
    // name is another one, and their order has nothing to do with the order of the keys.
    const char *rest = key % 2 == 0 ? "" : " in the dry larder";
    item.name_length = snprintf(
        item.name, sizeof item.name, "Item %07lld%s", (long long)(key * 7654321 % 10000000), rest);
    return item;
}

static int fill_places(raw_session *session, const char *sql, const char *format, int64_t count) {
    sqlite3_stmt *statement;
    RAW_CHECK(sqlite3_prepare_v2(session->database, sql, -1, &statement, NULL));
    int code = SQLITE_OK;
    for (int64_t key = 1; key <= count && code == SQLITE_OK; key++) {
        char name[48];
        int length = snprintf(name, sizeof name, format, (long long)key);
        sqlite3_bind_int64(statement, 1, key);
        sqlite3_bind_text(statement, 2, name, length, SQLITE_STATIC);
        code = raw_run(statement);
    }
    sqlite3_finalize(statement);
    return code;
}

// Entity numbers follow the alphabet: Item 1, LocationAtHome 2, LocationAtShop 3, Unit 4.
int raw_fill(raw_session *session, int64_t count, int with_items) {
    RAW_CHECK(raw_exec(session, "BEGIN IMMEDIATE"));
    RAW_CHECK(fill_places(
        session, "INSERT INTO ZLOCATIONATHOME(Z_PK, Z_ENT, Z_OPT, ZSTOREDIN) VALUES(?, 2, 1, ?)",
        "Shelf %06lld", raw_home_count(count)));
    RAW_CHECK(fill_places(
        session, "INSERT INTO ZLOCATIONATSHOP(Z_PK, Z_ENT, Z_OPT, ZAISLE) VALUES(?, 3, 1, ?)",
        "Aisle %06lld", raw_shop_count(count)));
    RAW_CHECK(fill_places(
        session, "INSERT INTO ZUNIT(Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES(?, 4, 1, ?)",
        "Unit %02lld", raw_unit_count()));
    char sql[256];
    snprintf(
        sql, sizeof sql,
        "UPDATE Z_PRIMARYKEY SET Z_MAX = CASE Z_ENT WHEN 1 THEN 0 WHEN 2 THEN %lld WHEN 3 THEN %lld ELSE %lld END",
        (long long)raw_home_count(count), (long long)raw_shop_count(count), (long long)raw_unit_count());
    RAW_CHECK(raw_exec(session, sql));
    RAW_CHECK(raw_exec(session, "COMMIT"));
    if (!with_items) return SQLITE_OK;
    // In slices, so that a million rows need no array of a million.
    for (int64_t first = 1; first <= count; first += 1000) {
        raw_item items[1000];
        int64_t slice = 0;
        for (int64_t key = first; key <= count && slice < 1000; key++) items[slice++] = raw_make_item(key, count);
        RAW_CHECK(raw_insert(session, items, slice));
    }
    return SQLITE_OK;
}
