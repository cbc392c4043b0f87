#ifdef WITH_POSTGRESQL
#include "Internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int pq_open(const char *folder, const char *user, const char *schema, pq_session **session) {
    pq_session *made = calloc(1, sizeof *made);
    char options[128];
    snprintf(options, sizeof options, "-csearch_path=%s", schema);
    const char *keys[] = {"host", "user", "dbname", "options", NULL};
    const char *values[] = {folder, user, "postgres", options, NULL};
    made->connection = PQconnectdbParams(keys, values, 0);
    *session = made;
    return PQstatus(made->connection) != CONNECTION_OK;
}

void pq_close(pq_session *session) {
    if (session == NULL) return;
    PQfinish(session->connection);
    free(session->bytes);
    free(session);
}

void pq_leave_pipeline(pq_session *session) { PQexitPipelineMode(session->connection); }

const char *pq_message(pq_session *session) { return PQerrorMessage(session->connection); }

int pq_exec(pq_session *session, const char *sql) {
    PGresult *result = PQexec(session->connection, sql);
    ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    return status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_COPY_IN;
}

int pq_text(pq_session *session, const char *sql, char **text) {
    PGresult *result = PQexec(session->connection, sql);
    int failed = PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) < 1;
    *text = failed ? NULL : strdup(PQgetvalue(result, 0, 0));
    PQclear(result);
    return failed;
}

int pq_prepare(pq_session *session, int place, const char *name, const char *sql) {
    if (session->prepared[place]) return 0;
    PGresult *result = PQprepare(session->connection, name, sql, 0, NULL);
    int failed = PQresultStatus(result) != PGRES_COMMAND_OK;
    PQclear(result);
    session->prepared[place] = !failed;
    return failed;
}

int pq_send(pq_session *session, const char *sql) {
    return PQsendQueryParams(session->connection, sql, 0, NULL, NULL, NULL, NULL, 1) != 1;
}

int pq_drain(pq_session *session, int64_t statements, const int64_t *changes) {
    if (PQpipelineSync(session->connection) != 1) return 1;
    int failed = 0;
    for (int64_t index = 0; index < statements; index++) {
        PGresult *result = PQgetResult(session->connection);
        ExecStatusType status = PQresultStatus(result);
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
            if (!failed) fprintf(stderr, "%s", PQresultErrorMessage(result));
            failed = 1;
        } else if (changes[index] >= 0 && atoll(PQcmdTuples(result)) != changes[index]) {
            failed = 1;
        }
        PQclear(result);
        while ((result = PQgetResult(session->connection)) != NULL) PQclear(result);
    }
    PGresult *result = PQgetResult(session->connection);
    if (PQresultStatus(result) != PGRES_PIPELINE_SYNC) failed = 1;
    PQclear(result);
    return failed;
}

void pq_reserve(pq_session *session, size_t count) {
    if (session->count + count <= session->room) return;
    session->room = 2 * (session->count + count);
    session->bytes = realloc(session->bytes, session->room);
}

void pq_put_bytes(pq_session *session, const void *bytes, size_t count) {
    pq_reserve(session, count);
    memcpy(session->bytes + session->count, bytes, count);
    session->count += count;
}

void pq_put16(pq_session *session, int16_t value) {
    uint16_t bytes = __builtin_bswap16((uint16_t)value);
    pq_put_bytes(session, &bytes, sizeof bytes);
}

void pq_put32(pq_session *session, int32_t value) {
    uint32_t bytes = __builtin_bswap32((uint32_t)value);
    pq_put_bytes(session, &bytes, sizeof bytes);
}

void pq_put64(pq_session *session, int64_t value) {
    uint64_t bytes = __builtin_bswap64((uint64_t)value);
    pq_put_bytes(session, &bytes, sizeof bytes);
}

void pq_put_double(pq_session *session, double value) {
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    pq_put64(session, bits);
}

int64_t pq_int64(const char *bytes) {
    uint64_t bits;
    memcpy(&bits, bytes, sizeof bits);
    return (int64_t)__builtin_bswap64(bits);
}

double pq_double(const char *bytes) {
    int64_t bits = pq_int64(bytes);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
#else
typedef int pq_nothing;
#endif
