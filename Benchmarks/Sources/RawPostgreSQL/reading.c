#ifdef WITH_POSTGRESQL
#include "Internal.h"

#define ITEM_COLUMNS                                                                                                   \
    "t0.\"_id\", t0.\"_entity\", t0.\"_version\", t0.\"collected\", t0.\"listed\", t0.\"name\", t0.\"photo\", "            \
    "t0.\"quantity\", t0.\"locationAtHome\", t0.\"locationAtShop\", t0.\"unit\""

static void add_item(PGresult *result, int row, pq_digest *digest) {
    digest->rows += 1;
    digest->number += pq_double(PQgetvalue(result, row, 7)) + (*PQgetvalue(result, row, 4) != 0 ? 1 : 0);
    if (!PQgetisnull(result, row, 5)) digest->bytes += PQgetlength(result, row, 5);
}

int pq_fetch_all(pq_session *session, pq_digest *digest) {
    PQ_CHECK(pq_prepare(session, PQ_FETCH_ALL, "all", "SELECT " ITEM_COLUMNS " FROM \"Item\" AS t0"));
    PGresult *result = PQexecPrepared(session->connection, "all", 0, NULL, NULL, NULL, 1);
    int failed = PQresultStatus(result) != PGRES_TUPLES_OK;
    int rows = PQntuples(result);
    for (int row = 0; row < rows; row++) add_item(result, row, digest);
    PQclear(result);
    return failed;
}

int pq_fetch_keys(pq_session *session, const int64_t *keys, int64_t count, pq_digest *digest) {
    PQ_CHECK(pq_prepare(
        session, PQ_FETCH_KEY, "key", "SELECT " ITEM_COLUMNS " FROM \"Item\" AS t0 WHERE t0.\"_id\" = $1"));
    int length = 8, format = 1;
    for (int64_t index = 0; index < count; index++) {
        uint64_t key = __builtin_bswap64((uint64_t)keys[index]);
        const char *value = (const char *)&key;
        PGresult *result = PQexecPrepared(session->connection, "key", 1, &value, &length, &format, 1);
        int failed = PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != 1;
        if (!failed) add_item(result, 0, digest);
        PQclear(result);
        if (failed) return 1;
    }
    return 0;
}

int pq_fetch_joined(pq_session *session, pq_digest *digest) {
    PQ_CHECK(pq_prepare(
        session, PQ_FETCH_JOINED, "joined",
        "SELECT " ITEM_COLUMNS ", t1.\"_id\", t1.\"_entity\", t1.\"_version\", t1.\"storedIn\" FROM \"Item\" AS t0 "
        "LEFT JOIN \"LocationAtHome\" AS t1 ON t1.\"_id\" = t0.\"locationAtHome\""));
    PGresult *result = PQexecPrepared(session->connection, "joined", 0, NULL, NULL, NULL, 1);
    int failed = PQresultStatus(result) != PGRES_TUPLES_OK;
    int rows = PQntuples(result);
    for (int row = 0; row < rows; row++) {
        digest->rows += 1;
        if (!PQgetisnull(result, row, 14)) digest->bytes += PQgetlength(result, row, 14);
    }
    PQclear(result);
    return failed;
}

int pq_load(pq_session *session, pq_row *rows, int64_t count) {
    PGresult *result = PQexecParams(
        session->connection, "SELECT \"_id\", \"_version\", \"quantity\" FROM \"Item\" ORDER BY \"_id\"", 0, NULL, NULL,
        NULL, NULL, 1);
    int failed = PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != count;
    for (int row = 0; row < count && !failed; row++) {
        rows[row].key = pq_int64(PQgetvalue(result, row, 0));
        rows[row].version = pq_int64(PQgetvalue(result, row, 1));
        rows[row].quantity = pq_double(PQgetvalue(result, row, 2));
    }
    PQclear(result);
    return failed;
}
#endif
typedef int pq_reading;
