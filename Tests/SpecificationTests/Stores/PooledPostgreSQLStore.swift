import PostgreSQLServer

extension SpecifiedStore {
    /// A schema of a PostgreSQL server behind PgBouncer, which gives each transaction another session.
    static let pooledPostgreSQL = onServer(
        "PostgreSQL behind PgBouncer", missing: PgBouncer.isInstalled ? nil : PgBouncer.missing,
        url: { try PgBouncer.shared.url(schema: $0) })
}
