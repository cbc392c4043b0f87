#ifndef RAW_POSTGRESQL_INTERNAL_H
#define RAW_POSTGRESQL_INTERNAL_H

#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

#include "RawPostgreSQL.h"
#include <stddef.h>

struct pq_session {
    PGconn *connection;
    char *bytes;
    size_t count;
    size_t room;
    char prepared[8];
};

#define PQ_CHECK(call)                                                                                                 \
    do {                                                                                                               \
        if ((call) != 0) return 1;                                                                                     \
    } while (0)

// Bytes of what is sent, most significant first.
void pq_reserve(pq_session *session, size_t count);
void pq_put16(pq_session *session, int16_t value);
void pq_put32(pq_session *session, int32_t value);
void pq_put64(pq_session *session, int64_t value);
void pq_put_double(pq_session *session, double value);
void pq_put_bytes(pq_session *session, const void *bytes, size_t count);
int64_t pq_int64(const char *bytes);
double pq_double(const char *bytes);

enum { PQ_FETCH_ALL, PQ_FETCH_KEY, PQ_FETCH_JOINED, PQ_UPDATE, PQ_INSERT_ONE, PQ_RAISE, PQ_NOTE };

int pq_prepare(pq_session *session, int place, const char *name, const char *sql);
// Takes the results of that many statements of a pipeline, each of which has to have changed `changes` rows (or any number, if negative).
int pq_drain(pq_session *session, int64_t statements, const int64_t *changes);
int pq_send(pq_session *session, const char *sql);

#endif
