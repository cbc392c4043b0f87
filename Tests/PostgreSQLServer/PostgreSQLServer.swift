import Foundation

/// A PostgreSQL server of this process's own, in a temporary folder, by a socket: started when it is first needed, and stopped
/// when the process has ended, however it ends.
///
///     @Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)")) struct ShopTests {
///         @Test func …() throws { let url = try PostgreSQLServer.shared.url(schema: "shop") … }
package final class PostgreSQLServer: Sendable {
    /// The server that tests share. Throws where it does not start: a test that needs it fails then.
    package static var shared: PostgreSQLServer { get throws { try started.get() } }
    private static let started = Result { try PostgreSQLServer() }

    /// Whether there are the programs of a server; tests that need it are skipped with ``missing`` where not.
    package static let isInstalled = (try? findPrograms()) != nil

    /// Why a test is skipped.
    package static let missing = "no PostgreSQL server is installed (Debian: apt-get install postgresql)"

    package static let user = "store"

    /// Whom the server asks for a password, once somebody has made a role of that name.
    package static let guarded = "guarded"

    /// Where the socket is.
    package let folder: String
    private let programs: String

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private let settings: [String]

    /// Another server than ``shared``, for what would disturb those who use that.
    ///
    /// - Parameter name: short, since the path of a socket is.
    package convenience init(_ name: String, _ settings: [String] = []) throws {
        try self.init(suffix: "-" + name, settings)
    }

    /// Another server that follows this one.
    package func makeReplica(_ name: String) throws -> PostgreSQLServer {
        try PostgreSQLServer(suffix: "-" + name) { replica in
            try replica.runAsServer(
                "pg_basebackup",
                ["-D", replica.folder + "/data", "-h", folder, "-U", Self.user, "-R", "-X", "stream", "-c", "fast"])
        }
    }

    private convenience init(suffix: String = "", _ others: [String] = []) throws {
        let cluster = try Self.newCluster.get()
        try self.init(suffix: suffix, others) { server in
            try Self.runAsServer(path: "cp", ["-a", cluster, server.folder + "/data"])
        }
    }

    /// A database cluster that no server has used yet, in a folder that ends with this process. `initdb` takes a second: servers get
    /// copies of what it made once.
    private static let newCluster = Result { () throws -> String in
        let folder = "\(base)/pg-\(ProcessInfo.processInfo.processIdentifier)-new"
        try makeFolder(folder)
        try atEnd("rm -rf '\(folder)'")
        let cluster = folder + "/data"
        try runAsServer(
            path: findPrograms() + "/initdb",
            ["-D", cluster, "-U", user, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"])
        let access = cluster + "/pg_hba.conf"
        let rules = try String(contentsOfFile: access, encoding: .utf8)
        try Data(("local all \(guarded) scram-sha-256\n" + rules).utf8).write(to: URL(fileURLWithPath: access))
        return cluster
    }

    private static var base: String { ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp" }

    /// Makes a folder that the server may write in.
    private static func makeFolder(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        if isRoot { try run("chown", ["postgres", path]) }
    }

    private init(suffix: String, _ others: [String] = [], fill: (PostgreSQLServer) throws -> Void) throws {
        programs = try Self.findPrograms()
        folder = "\(Self.base)/pg-\(ProcessInfo.processInfo.processIdentifier)\(suffix)"
        settings =
            [
                "listen_addresses=", "unix_socket_directories=\(folder)", "max_connections=400", "shared_buffers=64MB",
                "fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off",
            ] + others
        try Self.makeFolder(folder)
        try fill(self)
        try start()
        try watch()
    }

    /// Starts the server that was stopped, and waits until it answers.
    package func start() throws {
        try runAsServer(
            "pg_ctl",
            [
                "-D", folder + "/data", "-l", folder + "/log", "-w", "-s", "-o",
                settings.map { "-c \($0)" }.joined(separator: " "), "start",
            ])
    }

    /// Stops the server as if it had crashed: what it had not committed is gone.
    package func stopImmediately() throws {
        try runAsServer("pg_ctl", ["-D", folder + "/data", "-m", "immediate", "-w", "-s", "stop"])
    }

    /// Has the server read its settings and certificates again.
    package func reload() throws { try runAsServer("pg_ctl", ["-D", folder + "/data", "-s", "reload"]) }

    /// Puts a file beside the server's data, for nobody else to read.
    package func place(_ file: String, as name: String) throws {
        let path = folder + "/data/" + name
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.copyItem(atPath: file, toPath: path)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        if Self.isRoot { try Self.run("chown", ["postgres", path]) }
    }

    /// What every URL says beside, so that the tests may be run so, too: `POSTGRESQL_URL_REST='&constraints=foreign-keys,checks'`.
    private static let restOfAll = ProcessInfo.processInfo.environment["POSTGRESQL_URL_REST"] ?? ""

    /// The URL of a store in that schema.
    ///
    /// - Parameters:
    ///   - user: another role than the owner of everything.
    ///   - folder: where the socket is, if it is not the server's own.
    ///   - rest: more of the URL, such as `&pool=2`.
    package func url(schema: String, user: String = user, folder: String? = nil, _ rest: String = "") -> URL {
        guard
            let url = URL(
                string:
                    "postgresql:///postgres?host=\(folder ?? self.folder)&user=\(user)&schema=\(schema)\(rest)\(Self.restOfAll)"
            )
        else { preconditionFailure("\(schema) or \(rest) is no part of a URL") }
        return url
    }

    // MARK: A disk of its own

    private var smallDisk: String { folder + "/small" }

    /// Whether this process may mount a file system: ``makeSmallDisk(megabytes:)`` throws where not.
    package static let canMakeDisks: Bool = {
        guard isRoot else { return false }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("disk-\(UUID().uuidString)").path
        defer { rmdir(folder) }
        guard mkdir(folder, 0o700) == 0, (try? run("mount", ["-t", "tmpfs", "tmpfs", folder])) != nil else {
            return false
        }
        return (try? run("umount", [folder])) != nil
    }()

    /// Why a test is skipped that needs a small disk.
    package static let noDisks = "only the superuser may mount a small file system, and some containers may not either"

    /// Makes a file system of a few megabytes, where the server can be told to keep tables.
    package func makeSmallDisk(megabytes: Int) throws -> String {
        try FileManager.default.createDirectory(atPath: smallDisk, withIntermediateDirectories: true)
        try Self.run("mount", ["-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", smallDisk])
        try Self.run("chown", ["postgres", smallDisk])
        return smallDisk
    }

    // MARK: Programs

    private static var isRoot: Bool { geteuid() == 0 }

    private static func findPrograms() throws -> String {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let debian = versions.compactMap(Int.init).sorted(by: >).map { "/usr/lib/postgresql/\($0)/bin" }
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        guard
            let found = (debian + path).first(where: { folder in
                ["initdb", "pg_ctl"].allSatisfy { FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
            })
        else { throw Failure(description: missing) }
        return found
    }

    /// A server does not run as root.
    private func runAsServer(_ program: String, _ arguments: [String]) throws {
        try Self.runAsServer(path: "\(programs)/\(program)", arguments)
    }

    static func runAsServer(path: String, _ arguments: [String]) throws {
        guard isRoot else { return try run(path, arguments) }
        try run("runuser", ["-u", "postgres", "--", path] + arguments)
    }

    /// Foundation's `Process` would wait for the server, too, which has what tells of the end of the program that started it.
    package static func run(_ program: String, _ arguments: [String]) throws {
        let log = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { unlink(log) }
        let child = try spawn(program, arguments, log: log)
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else {
            let said = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            throw Failure(description: "\(program) \(arguments.joined(separator: " ")): \(said)")
        }
    }

    private static func spawn(
        _ program: String, _ arguments: [String], log: String, input: Int32? = nil
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        try closeOthers(&actions)
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        // A thread of a pool has signals blocked, and the program would have them so: a pooler does not end then.
        var (attributes, none) = (posix_spawnattr_t(), sigset_t())
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var child: pid_t = 0
        let code = posix_spawnp(&child, program, &actions, &attributes, &words, environ)
        guard code == 0 else { throw Failure(description: "\(program): \(String(cString: strerror(code)))") }
        return child
    }

    /// Keeps what the program has no use for out of its hands: among it may be the socket by whose closing a `Process` that another
    /// thread starts at this moment tells its end, which nobody would hear before the server stops.
    private static func closeOthers(_ actions: inout posix_spawn_file_actions_t) throws {
        typealias AddCloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
        // Declared for C with glibc's extensions only.
        guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else {
            throw Failure(description: "this system's C library cannot close files of a program that it starts")
        }
        let code = unsafeBitCast(symbol, to: AddCloseFrom.self)(&actions, 3)
        guard code == 0 else { throw Failure(description: String(cString: strerror(code))) }
    }

    /// Has a shell of its own wait for the end of this process, and end the server then.
    private func watch() throws {
        try Self.atEnd(
            """
            pid=$(head -n 1 '\(folder)/data/postmaster.pid')
            kill -QUIT $pid 2>/dev/null
            while kill -0 $pid 2>/dev/null; do sleep 0.1; done
            umount '\(smallDisk)' 2>/dev/null
            rm -rf '\(folder)'
            """)
    }

    /// Has a shell of its own do something once this process has ended, however it ends.
    ///
    /// The shell reads from a pipe that nobody writes to and whose other end this process alone has: no polling, which would start a
    /// program each second for every server.
    static func atEnd(_ commands: String) throws {
        _ = try spawn("/bin/sh", ["-c", "read -r line\n" + commands], log: "/dev/null", input: lifeline.get())
    }

    /// The end for reading of that pipe.
    private static let lifeline = Result { () throws -> Int32 in
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0, ends.allSatisfy({ fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }) else {
            throw Failure(description: "pipe: \(String(cString: strerror(errno)))")
        }
        return ends[0]
    }
}
