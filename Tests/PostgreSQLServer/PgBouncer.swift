import Foundation

/// A PgBouncer of this process's own before ``PostgreSQLServer/shared``, in transaction mode, by a socket: each transaction gets another of the server's
/// sessions than the one before, in turn.
///
///     guard let pooler = PgBouncer.shared else { return }       // none is installed: says so once
///     let url = pooler.url(schema: "shop")
package final class PgBouncer: Sendable {
    /// `nil` where no server or no pooler is installed, or it does not start; why is told on the standard error stream.
    package static let shared: PgBouncer? = {
        guard let server = PostgreSQLServer.shared else { return nil }
        do { return try PgBouncer(server) } catch {
            FileHandle.standardError.write(Data("No tests behind PgBouncer: \(error)\n".utf8))
            return nil
        }
    }()

    /// Where the socket is.
    package let folder: String
    private let server: PostgreSQLServer

    private init(_ server: PostgreSQLServer) throws {
        let places = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"]
        guard let program = places.first(where: FileManager.default.isExecutableFile) else {
            throw PostgreSQLServer.Failure(
                description: "no pooler is installed (Debian: apt-get install pgbouncer)")
        }
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
        try server.runAsServer(path: program, ["-d", "-q", folder + "/settings"])
        let files = ["/.s.PGSQL.5432", "/pid"]
        for _ in 0..<500 where !files.allSatisfy({ FileManager.default.fileExists(atPath: folder + $0) }) {
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
