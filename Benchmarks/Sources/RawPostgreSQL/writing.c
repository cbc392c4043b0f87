#ifdef WITH_POSTGRESQL
#include "Internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char insert_columns[] =
    "\"_id\", \"_entity\", \"_version\", \"collected\", \"listed\", \"name\", \"photo\", \"quantity\", "
    "\"locationAtHome\", \"locationAtShop\", \"unit\"";

static void put_field64(pq_session *session, int64_t value) {
    pq_put32(session, 8);
    pq_put64(session, value);
}

static void put_truth(pq_session *session, int value) {
    char byte = value != 0;
    pq_put32(session, 1);
    pq_put_bytes(session, &byte, 1);
}

static void put_item(pq_session *session, int64_t key, const pq_item *item) {
    pq_put16(session, 11);
    put_field64(session, key);
    put_field64(session, 1);
    put_field64(session, 1);
    put_truth(session, item->collected);
    put_truth(session, item->listed);
    pq_put32(session, item->name_length);
    pq_put_bytes(session, item->name, (size_t)item->name_length);
    pq_put32(session, -1);
    pq_put32(session, 8);
    pq_put_double(session, item->quantity);
    put_field64(session, item->home);
    put_field64(session, item->shop);
    put_field64(session, item->unit);
}

static int send_copied(pq_session *session) {
    int failed = PQputCopyData(session->connection, session->bytes, (int)session->count) != 1;
    session->count = 0;
    return failed;
}

static int copy_items(pq_session *session, int64_t first, const pq_item *items, int64_t count) {
    char sql[256];
    snprintf(sql, sizeof sql, "COPY \"Item\" (%s) FROM STDIN (FORMAT binary)", insert_columns);
    PQ_CHECK(pq_exec(session, sql));
    session->count = 0;
    pq_put_bytes(session, "PGCOPY\n\377\r\n\0", 11);
    pq_put32(session, 0);
    pq_put32(session, 0);
    for (int64_t index = 0; index < count; index++) {
        put_item(session, first + index, &items[index]);
        if (session->count > 60000) PQ_CHECK(send_copied(session));
    }
    pq_put16(session, -1);
    PQ_CHECK(send_copied(session));
    if (PQputCopyEnd(session->connection, NULL) != 1) return 1;
    PGresult *result = PQgetResult(session->connection);
    int failed = PQresultStatus(result) != PGRES_COMMAND_OK || atoll(PQcmdTuples(result)) != count;
    PQclear(result);
    while ((result = PQgetResult(session->connection)) != NULL) PQclear(result);
    return failed;
}

// An array of one dimension, as it goes over the wire: returns where it begins, for `end_array`.
static size_t begin_array(pq_session *session, int type, int64_t count) {
    size_t start = session->count;
    pq_put32(session, 1);
    pq_put32(session, 0);
    pq_put32(session, type);
    pq_put32(session, (int32_t)count);
    pq_put32(session, 1);
    return start;
}

enum { INT8 = 20, FLOAT8 = 701 };

static int send_arrays(pq_session *session, const char *name, const size_t *starts, int count) {
    const char *values[4];
    int lengths[4], formats[4];
    for (int index = 0; index < count; index++) {
        size_t end = index + 1 < count ? starts[index + 1] : session->count;
        values[index] = session->bytes + starts[index];
        lengths[index] = (int)(end - starts[index]);
        formats[index] = 1;
    }
    return PQsendQueryPrepared(session->connection, name, count, values, lengths, formats, 1) != 1;
}

static int raise_owners(pq_session *session, const char *table, const pq_owner *owners, int64_t count) {
    if (count == 0) return 0;
    char sql[320];
    snprintf(
        sql, sizeof sql,
        "UPDATE \"%s\" AS t SET \"_version\" = v.o + 1 FROM UNNEST($1::BIGINT[], $2::BIGINT[]) AS v(k, o) "
        "WHERE t.\"_id\" = v.k AND t.\"_version\" = v.o",
        table);
    session->count = 0;
    size_t starts[2];
    starts[0] = begin_array(session, INT8, count);
    for (int64_t index = 0; index < count; index++) put_field64(session, owners[index].key);
    starts[1] = begin_array(session, INT8, count);
    for (int64_t index = 0; index < count; index++) put_field64(session, owners[index].version);
    const char *values[2] = {session->bytes + starts[0], session->bytes + starts[1]};
    int lengths[2] = {(int)(starts[1] - starts[0]), (int)(session->count - starts[1])}, formats[2] = {1, 1};
    PGresult *result = PQexecParams(session->connection, sql, 2, NULL, values, lengths, formats, 1);
    int failed = PQresultStatus(result) != PGRES_COMMAND_OK || atoll(PQcmdTuples(result)) != count;
    PQclear(result);
    return failed;
}

int pq_reserve_keys(pq_session *session, int64_t count, int64_t *first) {
    char sql[160], *text;
    snprintf(
        sql, sizeof sql, "UPDATE \"_entities\" SET \"last_id\" = \"last_id\" + %lld WHERE \"name\" = 'Item' RETURNING \"last_id\"",
        (long long)count);
    PQ_CHECK(pq_text(session, sql, &text));
    *first = atoll(text) - count + 1;
    free(text);
    return 0;
}

int pq_insert(pq_session *session, int64_t first, const pq_item *items, int64_t count, const pq_owner *homes,
              int64_t home_count, const pq_owner *shops, int64_t shop_count, const pq_owner *units, int64_t unit_count) {
    PQ_CHECK(pq_exec(session, "BEGIN"));
    PQ_CHECK(copy_items(session, first, items, count));
    PQ_CHECK(raise_owners(session, "LocationAtHome", homes, home_count));
    PQ_CHECK(raise_owners(session, "LocationAtShop", shops, shop_count));
    PQ_CHECK(raise_owners(session, "Unit", units, unit_count));
    return pq_exec(session, "COMMIT");
}

// On the way that BEGIN takes.
static int note_commit(pq_session *session, int64_t number) {
    enum { WRITER = 1 };
    int64_t fields[2] = {(int64_t)__builtin_bswap64(WRITER), (int64_t)__builtin_bswap64((uint64_t)number)};
    const char *values[2] = {(const char *)&fields[0], (const char *)&fields[1]};
    int lengths[2] = {8, 8}, formats[2] = {1, 1};
    return PQsendQueryPrepared(session->connection, "note", 2, values, lengths, formats, 1) != 1;
}

int pq_insert_one(pq_session *session, int64_t key, const pq_item *item, int64_t number) {
    if (number && !session->prepared[PQ_NOTE]) {
        PQ_CHECK(pq_prepare(
            session, PQ_NOTE, "note",
            "INSERT INTO \"_commits\" (\"_id\", \"number\", \"timestamp\") VALUES ($1::BIGINT, $2::BIGINT, statement_timestamp()) "
            "ON CONFLICT (\"_id\") DO UPDATE SET \"number\" = EXCLUDED.\"number\", \"timestamp\" = EXCLUDED.\"timestamp\""));
    }
    if (!session->prepared[PQ_INSERT_ONE]) {
        char sql[320];
        snprintf(
            sql, sizeof sql, "INSERT INTO \"Item\" (%s) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)", insert_columns);
        PQ_CHECK(pq_prepare(session, PQ_INSERT_ONE, "insert", sql));
        static const char *const names[] = {"home", "shop", "unit"}, *const tables[] = {"LocationAtHome", "LocationAtShop", "Unit"};
        for (int index = 0; index < 3; index++) {
            session->prepared[PQ_RAISE] = 0;
            snprintf(sql, sizeof sql, "UPDATE \"%s\" SET \"_version\" = \"_version\" + 1 WHERE \"_id\" = $1", tables[index]);
            PQ_CHECK(pq_prepare(session, PQ_RAISE, names[index], sql));
        }
    }
    if (PQpipelineStatus(session->connection) == PQ_PIPELINE_OFF && PQenterPipelineMode(session->connection) != 1) return 1;
    session->count = 0;
    pq_reserve(session, 256);
    put_item(session, key, item);
    // The fields of a row for COPY, as parameters.
    const char *values[11];
    int lengths[11], formats[11];
    const char *place = session->bytes + 2;
    for (int index = 0; index < 11; index++) {
        uint32_t bytes;
        memcpy(&bytes, place, sizeof bytes);
        lengths[index] = (int)__builtin_bswap32(bytes);
        formats[index] = 1;
        values[index] = lengths[index] < 0 ? NULL : place + 4;
        place += 4 + (lengths[index] < 0 ? 0 : lengths[index]);
    }
    PQ_CHECK(pq_send(session, "BEGIN"));
    if (number) PQ_CHECK(note_commit(session, number));
    for (int index = 0; index < 3; index++) {
        static const char *const names[] = {"home", "shop", "unit"};
        if (PQsendQueryPrepared(session->connection, names[index], 1, &values[8 + index], &lengths[8 + index], formats, 1) != 1)
            return 1;
    }
    if (PQsendQueryPrepared(session->connection, "insert", 11, values, lengths, formats, 1) != 1) return 1;
    static const int64_t changes[] = {-1, 1, 1, 1, 1}, any[] = {-1};
    if (number) PQ_CHECK(pq_drain(session, 6, (const int64_t[]){-1, 1, 1, 1, 1, 1}));
    else PQ_CHECK(pq_drain(session, 5, changes));
    PQ_CHECK(pq_send(session, "COMMIT"));
    return pq_drain(session, 1, any);
}

int pq_update(pq_session *session, const pq_row *rows, int64_t count) {
    PQ_CHECK(pq_prepare(
        session, PQ_UPDATE, "update",
        "UPDATE \"Item\" AS t SET \"_version\" = v.o + 1, \"quantity\" = v.q "
        "FROM UNNEST($1::BIGINT[], $2::BIGINT[], $3::FLOAT8[]) AS v(k, o, q) WHERE t.\"_id\" = v.k AND t.\"_version\" = v.o"));
    enum { PORTION = 500 };
    int64_t statements = 0, *changes = calloc((size_t)(count / PORTION + 4), sizeof *changes);
    if (PQenterPipelineMode(session->connection) != 1) return 1;
    PQ_CHECK(pq_send(session, "BEGIN"));
    changes[statements++] = -1;
    for (int64_t first = 0; first < count; first += PORTION) {
        int64_t end = first + PORTION < count ? first + PORTION : count;
        size_t starts[3];
        session->count = 0;
        starts[0] = begin_array(session, INT8, end - first);
        for (int64_t index = first; index < end; index++) put_field64(session, rows[index].key);
        starts[1] = begin_array(session, INT8, end - first);
        for (int64_t index = first; index < end; index++) put_field64(session, rows[index].version);
        starts[2] = begin_array(session, FLOAT8, end - first);
        for (int64_t index = first; index < end; index++) {
            pq_put32(session, 8);
            pq_put_double(session, rows[index].quantity + 1);
        }
        PQ_CHECK(send_arrays(session, "update", starts, 3));
        changes[statements++] = end - first;
    }
    int failed = pq_drain(session, statements, changes);
    free(changes);
    static const int64_t any[] = {-1};
    if (!failed) failed = pq_send(session, "COMMIT") || pq_drain(session, 1, any);
    return failed || PQexitPipelineMode(session->connection) != 1;
}
#endif
typedef int pq_writing;
