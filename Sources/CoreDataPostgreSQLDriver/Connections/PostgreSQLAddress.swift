import CoreDataSQL
import Foundation

/// The location of a database on a server and the connection's parameters, parsed from its URL.
///
///     postgresql://shop@db.example.com/shop?schema=orders&pool=8
///     postgresql:///shop?host=/var/run/postgresql
///
/// For parameters that the URL does not contain, libpq uses its other sources: `PGHOST` and similar variables,
/// `PGPASSFILE`.
package struct PostgreSQLAddress: Hashable, Sendable {
    /// libpq's parameters, including the password.
    private(set) var parameters: [String: String] = [:]
    /// The schema of the store's tables.
    package private(set) var schema = "public"
    /// The maximum number of concurrent readers.
    package private(set) var poolSize: Int?
    /// The connection pooler in front of the server, if the URL names one.
    package private(set) var pooler: PostgreSQLPooler?
    /// The kind of server, if the URL names it; otherwise the session asks the server.
    package private(set) var engine: PostgreSQLEngine?
    /// The seconds between two polls for other clients' commits, for a server without notifications.
    package private(set) var pollInterval = 2.0
    /// The hosts of read replicas, each with a port if it differs.
    package private(set) var replicas: [String] = []
    /// The constraints to create on the store's tables; `nil` keeps the existing ones.
    package private(set) var constraints: ConstraintKinds?
    /// The URL without the password.
    package private(set) var description: String

    package static let schemes: Set<String> = ["postgresql", "postgres"]

    /// The parameters of libpq that a URL may contain.
    private static let words: Set<String> = [
        "host", "hostaddr", "port", "user", "password", "dbname", "passfile", "sslmode", "sslrootcert", "sslcert",
        "sslkey", "sslpassword", "sslcrl", "sslsni", "channel_binding", "ssl_min_protocol_version",
        "ssl_max_protocol_version", "connect_timeout", "application_name", "keepalives", "keepalives_idle",
        "keepalives_interval", "keepalives_count", "tcp_user_timeout", "target_session_attrs", "service", "options",
    ]

    /// - Throws: ``SQLFailure`` of the kind `.cannotOpen` that names the invalid part of the URL.
    package init(_ url: URL) throws(SQLFailure) {
        description = Self.withoutPassword(url).absoluteString
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: false), let scheme = parts.scheme,
            Self.schemes.contains(scheme.lowercased())
        else {
            throw Self.refusal("'\(description)' is no URL of a PostgreSQL database: postgresql://user@host/database")
        }
        if let host = parts.percentEncodedHost?.removingPercentEncoding, !host.isEmpty {
            parameters["host"] = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        }
        if let port = parts.port { parameters["port"] = String(port) }
        if let user = parts.user, !user.isEmpty { parameters["user"] = user }
        if let password = parts.password { parameters["password"] = password }
        let name = String(parts.path.drop { $0 == "/" })
        if !name.isEmpty { parameters["dbname"] = name }
        var names: Set<String> = []
        for item in parts.queryItems ?? [] {
            guard names.insert(item.name).inserted else {
                throw Self.refusal("'\(description)' has '\(item.name)' twice: give it one value")
            }
            try take(item.name, item.value ?? "")
        }
        if parameters["application_name"] == nil { parameters["application_name"] = "OpenCoreData" }
        secure()
        keepAlive()
    }

    private mutating func take(_ name: String, _ value: String) throws(SQLFailure) {
        switch name {
        case "schema":
            guard !value.isEmpty, value.utf8.count <= 63, !value.hasPrefix("pg_"), !value.utf8.contains(0) else {
                throw Self.refusal(
                    "'\(value)' can be no schema's name: it has 1 to 63 bytes and does not begin with pg_")
            }
            schema = value
        case "pool":
            guard let size = Int(value), size > 0 else {
                throw Self.refusal("pool=\(value) is no number of connections")
            }
            poolSize = size
        case "pooler":
            guard let known = PostgreSQLPooler(rawValue: value) else {
                throw Self.refusal(
                    "pooler=\(value) is no kind of pooler: \(PostgreSQLPooler.allCases.map(\.rawValue).joined(separator: ", "))"
                )
            }
            pooler = known
        case "engine":
            guard let known = PostgreSQLEngine(rawValue: value) else {
                throw Self.refusal(
                    "engine=\(value) is none that is known: \(PostgreSQLEngine.allCases.map(\.rawValue).joined(separator: ", "))"
                )
            }
            engine = known
        case "poll":
            guard let seconds = Double(value), seconds >= 0.05, seconds <= 86_400 else {
                throw Self.refusal("poll=\(value) is no number of seconds from 0.05 to 86400")
            }
            pollInterval = seconds
        case "replicas":
            replicas = value.split(separator: ",").map(String.init)
            guard !replicas.isEmpty else { throw Self.refusal("replicas= names no host") }
            for replica in replicas {
                if let port = Self.hostAndPort(ofReplica: replica).port, UInt16(port) ?? 0 == 0 {
                    throw Self.refusal(
                        "replicas=\(replica) has '\(port)' for a port, which is a number from 1 to 65535")
                }
            }
        case "constraints": constraints = try Self.constraints(value)
        case "ssl" where value == "true": parameters["sslmode"] = "verify-full"
        case _ where Self.words.contains(name): parameters[name] = value
        default:
            throw Self.refusal(
                "'\(description)' has '\(name)', which means nothing here: known are schema, pool, pooler, engine, poll, replicas, constraints, \(Self.words.sorted().joined(separator: ", "))"
            )
        }
    }

    private static func constraints(_ text: String) throws(SQLFailure) -> ConstraintKinds {
        var kinds: ConstraintKinds = []
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        for word in words {
            switch word {
            case "foreign-keys": kinds.insert(.references)
            case "checks": kinds.insert(.checks)
            case "none" where words.count == 1: break
            default:
                throw refusal("constraints=\(text) has '\(word)': foreign-keys, checks, both with a comma, or none")
            }
        }
        return kinds
    }

    /// Returns the address of a replica: that of the server with another host.
    ///
    ///     replicas=db2.example.com,db3.example.com:5433,[::1]:5433,/var/run/other
    func address(ofReplica replica: String) -> PostgreSQLAddress {
        var address = self
        address.replicas = []
        address.parameters["hostaddr"] = nil
        var (host, port) = Self.hostAndPort(ofReplica: replica)
        if let port { address.parameters["port"] = String(port) }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        address.parameters["host"] = String(host)
        address.description = "replica \(replica) of \(description)"
        address.secure()
        address.keepAlive()
        return address
    }

    /// Splits host and port. A second colon belongs to an IPv6 address without brackets, and any colon to a folder's
    /// name.
    private static func hostAndPort(ofReplica replica: String) -> (host: Substring, port: Substring?) {
        guard let colon = replica.lastIndex(of: ":"), !replica.hasPrefix("/"), !replica.hasPrefix("@") else {
            return (Substring(replica), nil)
        }
        let host = replica[..<colon]
        guard !host.contains(":") || host.hasSuffix("]") else { return (Substring(replica), nil) }
        return (host, replica[replica.index(after: colon)...])
    }

    /// Whether the server is on this machine, reached through a Unix socket.
    private var isLocal: Bool {
        let host = parameters["host"] ?? ProcessInfo.processInfo.environment["PGHOST"] ?? ""
        return parameters["hostaddr"] == nil && (host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@"))
    }

    /// Requires full TLS verification by default, unless the connection is local.
    private mutating func secure() {
        let environment = ProcessInfo.processInfo.environment
        guard !isLocal, parameters["sslmode"] == nil, environment["PGSSLMODE"] == nil, parameters["service"] == nil
        else { return }
        parameters["sslmode"] = "verify-full"
        guard parameters["sslrootcert"] == nil, environment["PGSSLROOTCERT"] == nil else { return }
        let own = NSHomeDirectory() + "/.postgresql/root.crt"
        let system = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"]
        let files = FileManager.default
        if !files.fileExists(atPath: own), let bundle = system.first(where: files.fileExists) {
            parameters["sslrootcert"] = bundle
        }
    }

    /// The TCP keepalive settings with which the kernel detects a dead peer within a minute: a cut cable, a firewall
    /// that dropped the connection, a host without power. The kernel's default for an idle session is two hours.
    private static let keepalives = [
        "keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3", "tcp_user_timeout": "60000",
    ]

    /// Sets the parameters that the URL omits. A service file sets its own, and a Unix socket needs none.
    private mutating func keepAlive() {
        guard !isLocal, parameters["service"] == nil else { return }
        parameters.merge(Self.keepalives) { own, _ in own }
    }

    /// Whether the server is on this machine, regardless of the network.
    var isLoopback: Bool {
        let host = (parameters["hostaddr"] ?? parameters["host"] ?? "").lowercased()
        return host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }

    /// Whether the URL contains a password.
    var hasPassword: Bool { parameters["password"] != nil }

    mutating func setPassword(_ password: String) { parameters["password"] = password }

    /// Returns the URL without its password, for messages.
    package static func withoutPassword(_ url: URL) -> URL {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) else { return url }
        guard parts.password != nil || parts.queryItems?.contains(where: { isSecret($0.name) }) == true else {
            return url
        }
        parts.password = nil
        parts.queryItems = parts.queryItems?.filter { !isSecret($0.name) }
        if parts.queryItems?.isEmpty == true { parts.queryItems = nil }
        return parts.url ?? URL(string: "postgresql:///") ?? url
    }

    /// Returns an unused schema name next to another schema.
    static func nameOfPlace(beside schema: String) -> String {
        // Names have at most 63 bytes.
        var name = schema
        while name.utf8.count > 40 { name.removeLast() }
        return name + "_new_" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    }

    /// Returns the URL with another schema, for building a store in portions, and without constraints, because the
    /// store is incomplete until the end.
    package static func url(_ url: URL, schema: String) throws -> URL {
        let parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
        let others = (parts?.queryItems ?? []).filter { !["schema", "constraints"].contains($0.name) }
        guard var parts else {
            throw refusal("'\(withoutPassword(url).absoluteString)' is no URL of a PostgreSQL database")
        }
        parts.queryItems = others + [URLQueryItem(name: "schema", value: schema)]
        guard let other = parts.url else {
            throw refusal("'\(withoutPassword(url).absoluteString)' is no URL of a PostgreSQL database")
        }
        return other
    }

    private static func isSecret(_ name: String) -> Bool { name == "password" || name == "sslpassword" }

    private static func refusal(_ message: String) -> SQLFailure {
        SQLFailure(kind: .cannotOpen, code: 0, message: message)
    }
}
