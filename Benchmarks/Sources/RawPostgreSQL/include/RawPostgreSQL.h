// The workloads as plain calls of libpq, in binary and with as few ways to the server as each allows: the floor that
// stores on a server are measured against. Empty unless the package's trait PostgreSQL is on.
//
// Every function returns 0, or 1 after a failure; pq_message() tells which.
#ifndef RAW_POSTGRESQL_H
#define RAW_POSTGRESQL_H

#include <stdint.h>

typedef struct pq_session pq_session;

// What was read, added up, so that two sides can be compared.
typedef struct {
    int64_t rows;
    double number;
    int64_t bytes;
} pq_digest;

// The values of one item.
typedef struct {
    int64_t home;
    int64_t shop;
    int64_t unit;
    double quantity;
    int32_t collected;
    int32_t listed;
    int32_t name_length;
    char name[36];
} pq_item;

// What an update has to know of a row.
typedef struct {
    int64_t key;
    int64_t version;
    double quantity;
} pq_row;

// A version that goes up by one.
typedef struct {
    int64_t key;
    int64_t version;
} pq_owner;

#ifdef __cplusplus
extern "C" {
#endif

int pq_open(const char *folder, const char *user, const char *schema, pq_session **session);
void pq_close(pq_session *session);
// What is prepared stays.
void pq_leave_pipeline(pq_session *session);
const char *pq_message(pq_session *session);
// Runs statements without results.
int pq_exec(pq_session *session, const char *sql);
// The first column of the first row as text; free() it.
int pq_text(pq_session *session, const char *sql, char **text);

// Takes keys of the counter of items for good, in a transaction of its own.
int pq_reserve_keys(pq_session *session, int64_t count, int64_t *first);
// COPY of all items, and the versions of those that they refer to in a statement for each table; one transaction.
int pq_insert(pq_session *session, int64_t first, const pq_item *items, int64_t count, const pq_owner *homes,
              int64_t home_count, const pq_owner *shops, int64_t shop_count, const pq_owner *units, int64_t unit_count);
// A transaction of one item: there and back for what is written, there and back for the commit.
//
// `number`: what it notes in a row of its own, by which is known later whether it was committed; 0 for nothing.
int pq_insert_one(pq_session *session, int64_t key, const pq_item *item, int64_t number);
int pq_load(pq_session *session, pq_row *rows, int64_t count);
// Rows and versions as arrays, some hundred a statement.
int pq_update(pq_session *session, const pq_row *rows, int64_t count);
int pq_fetch_all(pq_session *session, pq_digest *digest);
int pq_fetch_keys(pq_session *session, const int64_t *keys, int64_t count, pq_digest *digest);
int pq_fetch_joined(pq_session *session, pq_digest *digest);

#ifdef __cplusplus
}
#endif

#endif
