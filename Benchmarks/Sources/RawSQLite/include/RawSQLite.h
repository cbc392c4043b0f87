// The workloads as plain calls of SQLite's C interface: the floor that everything else is measured against.
//
// Every function returns 0 or SQLite's result code; raw_message() tells more. A session keeps the statements that it
// has prepared.
#ifndef RAW_SQLITE_H
#define RAW_SQLITE_H

#include <stddef.h>
#include <stdint.h>

typedef struct raw_session raw_session;

// What was read, added up, so that two sides can be compared: rows, numbers, bytes of text.
typedef struct {
    int64_t rows;
    double number;
    int64_t bytes;
} raw_digest;

// The values of one item, a function of its key.
typedef struct {
    int64_t key;
    int64_t home;
    int64_t shop;
    int64_t unit;
    double quantity;
    int32_t collected;
    int32_t listed;
    int32_t name_length;
    char name[36];
} raw_item;

// What an update or a delete has to know of a row.
typedef struct {
    int64_t key;
    int64_t version;
    double quantity;
} raw_row;

raw_item raw_make_item(int64_t key, int64_t count);
int64_t raw_home_count(int64_t count);
int64_t raw_shop_count(int64_t count);
int64_t raw_unit_count(void);

int raw_open(const char *path, raw_session **session);
void raw_close(raw_session *session);
const char *raw_message(raw_session *session);
int raw_exec(raw_session *session, const char *sql);

// Has every save that follows write a transaction and its changes, as a store does that records its history.
void raw_record_history(raw_session *session);

// Has every insert that follows raise the versions of the item's home, shop and unit, and note them in the history.
void raw_raise_owners(raw_session *session);

// The columns of the first row as text, joined by '|'; free() it.
int raw_row_text(raw_session *session, const char *sql, char **text);

// Fills an empty store with units and locations for `count` items, and with the items if asked.
int raw_fill(raw_session *session, int64_t count, int with_items);

int raw_insert(raw_session *session, const raw_item *items, int64_t count);        // W1
int raw_fetch_all(raw_session *session, raw_digest *digest);                       // W2
int raw_fetch_page(raw_session *session, raw_digest *digest);                      // W3
int raw_fetch_keys(raw_session *session, const int64_t *keys, int64_t count, raw_digest *digest);  // W4
int raw_fetch_joined(raw_session *session, raw_digest *digest);                    // W5
int raw_load(raw_session *session, raw_row *rows, int64_t count);
int raw_update(raw_session *session, raw_row *rows, int64_t count);                // W6
int raw_delete(raw_session *session, const raw_row *rows, int64_t count);          // W7
int raw_count(raw_session *session, raw_digest *digest);                           // W8
int raw_insert_each(raw_session *session, const raw_item *items, int64_t count);   // W9
int raw_fetch_pairs(raw_session *session, raw_digest *digest);                     // W10
int raw_fetch_triples(raw_session *session, raw_digest *digest);                   // W10d, W10t
int raw_open_and_fetch(const char *path, raw_session **session, raw_digest *digest);  // W11
int raw_fetch_some(raw_session *session, int64_t limit, raw_digest *digest);       // W12

// Items without places whose names are unique, with `more` added to their quantities: a row that has the name changes.
int raw_upsert(raw_session *session, const raw_item *items, int64_t count, double more);  // F4

// Reads all rows of one statement and inserts each with another, in another store: F11.
int raw_copy_rows(raw_session *from, raw_session *to, const char *select, const char *insert);

// Opens a store and reads its metadata.
int raw_open_store(const char *path, raw_session **session);

// Reads every row of a query without keeping its statement: sums of the numbers and of the bytes of text, from the
// fourth column on.
int raw_sum(raw_session *session, const char *sql, raw_digest *digest);  // W14

// Bytes in use that the process got from malloc, without SQLite's.
int64_t raw_heap_in_use(void);

const char *raw_sqlite_version(void);
const char *raw_libc_version(void);

#endif
