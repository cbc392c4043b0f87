import PostgreSQLServer

extension SpecifiedStore {
    /// A schema of a PostgreSQL server behind PgBouncer, which gives each transaction another session.
    static let pooledPostgreSQL = onServer(
        "PostgreSQL behind PgBouncer", isInstalled: PgBouncer.shared != nil, url: { PgBouncer.shared?.url(schema: $0) })
}
