import Foundation

/// A PgBouncer of this process's own before ``PostgreSQLServer/shared``, in transaction mode, by a socket: each transaction gets another of the server's
/// sessions than the one before, in turn.
///
///     let url = try PgBouncer.shared.url(schema: "shop")
package final class PgBouncer: Sendable {
    /// The pooler that tests share. Throws where it or its server does not start: a test that needs it fails then.
    package static var shared: PgBouncer { get throws { try started.get() } }
    private static let started = Result { try PgBouncer(PostgreSQLServer.shared) }

    private static let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"]
        .first(where: FileManager.default.isExecutableFile)

    /// Whether there are the programs of a pooler and of a server; tests that need it are skipped with ``missing`` where not.
    package static let isInstalled = PostgreSQLServer.isInstalled && program != nil

    /// Why a test is skipped.
    package static let missing =
        "no PgBouncer is installed, or no PostgreSQL server (Debian: apt-get install pgbouncer)"

    /// Where the socket is.
    package let folder: String
    private let server: PostgreSQLServer

    private init(_ server: PostgreSQLServer) throws {
        guard let program = Self.program else { throw PostgreSQLServer.Failure(description: Self.missing) }
        self.server = server
        folder = server.folder + "/pooler"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let settings = """
            [databases]
            * = host=\(server.folder) port=5432
            [pgbouncer]
            listen_addr =
            listen_port = 5432
            unix_socket_dir = \(folder)
            auth_type = trust
            auth_file = \(folder)/users
            pool_mode = transaction
            server_round_robin = 1
            default_pool_size = 60
            max_client_conn = 1000
            logfile = \(folder)/log
            pidfile = \(folder)/pid
            """
        try Data(settings.utf8).write(to: URL(fileURLWithPath: folder + "/settings"))
        try Data("\"\(PostgreSQLServer.user)\" \"\"\n".utf8).write(to: URL(fileURLWithPath: folder + "/users"))
        // It does not run as root either.
        if geteuid() == 0 { try PostgreSQLServer.run("chown", ["-R", "postgres", folder]) }
        try PostgreSQLServer.runAsServer(path: program, ["-d", "-q", folder + "/settings"])
        let files = ["/.s.PGSQL.5432", "/pid"]
        let deadline = ContinuousClock.now + .seconds(30)
        while !files.allSatisfy({ FileManager.default.fileExists(atPath: folder + $0) }) {
            guard ContinuousClock.now < deadline else {
                throw PostgreSQLServer.Failure(description: "the pooler has not started within 30 seconds")
            }
            Thread.sleep(forTimeInterval: 0.01)
        }
        let process = try String(contentsOfFile: folder + "/pid", encoding: .utf8)
        try PostgreSQLServer.atEnd("kill -TERM \(process.filter(\.isNumber))")
    }

    /// The URL of a store in that schema, by the pooler.
    package func url(schema: String, _ rest: String = "&pooler=transaction") -> URL {
        server.url(schema: schema, folder: folder, rest)
    }
}
