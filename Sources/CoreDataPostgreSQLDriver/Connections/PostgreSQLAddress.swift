import CoreDataSQL
import Foundation

/// Where a database on a server is, and how to get there, as its URL says.
///
///     postgresql://shop@db.example.com/shop?schema=orders&pool=8
///     postgresql:///shop?host=/var/run/postgresql
///
/// What is not said here is libpq's to find: in `PGHOST` and its like, in `PGPASSFILE`.
package struct PostgreSQLAddress: Hashable, Sendable {
    /// Words and values of libpq's, the password among them.
    private(set) var parameters: [String: String] = [:]
    /// Where the store's tables are.
    package private(set) var schema = "public"
    /// The most connections that read at once.
    package private(set) var poolSize: Int?
    /// Who stands before the server, where the URL says that somebody does.
    package private(set) var pooler: PostgreSQLPooler?
    /// What the server is, where the URL says so; else it is asked.
    package private(set) var engine: PostgreSQLEngine?
    /// How many seconds pass between one look for what others have committed and the next, where the server does not tell.
    package private(set) var pollInterval = 2.0
    /// Servers that have the same a moment later, to be read from: hosts, each with a port if it has another.
    package private(set) var replicas: [String] = []
    /// The constraints that the store's tables are to have; `nil` for those that they have.
    package private(set) var constraints: ConstraintKinds?
    /// The URL without the password.
    package private(set) var description: String

    package static let schemes: Set<String> = ["postgresql", "postgres"]

    /// Words of libpq's that a URL may have.
    private static let words: Set<String> = [
        "host", "hostaddr", "port", "user", "password", "dbname", "passfile", "sslmode", "sslrootcert", "sslcert",
        "sslkey", "sslpassword", "sslcrl", "sslsni", "channel_binding", "ssl_min_protocol_version",
        "ssl_max_protocol_version", "connect_timeout", "application_name", "keepalives", "keepalives_idle",
        "keepalives_interval", "keepalives_count", "tcp_user_timeout", "target_session_attrs", "service", "options",
    ]

    /// - Throws: ``SQLFailure`` of the kind `.cannotOpen` that names what in the URL is not understood.
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

    /// Where a replica is, and how to get there: as to the server, but for the host.
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

    /// A colon more is a part of an address, unless that stands in brackets, and any is one of a folder's name.
    private static func hostAndPort(ofReplica replica: String) -> (host: Substring, port: Substring?) {
        guard let colon = replica.lastIndex(of: ":"), !replica.hasPrefix("/"), !replica.hasPrefix("@") else {
            return (Substring(replica), nil)
        }
        let host = replica[..<colon]
        guard !host.contains(":") || host.hasSuffix("]") else { return (Substring(replica), nil) }
        return (host, replica[replica.index(after: colon)...])
    }

    /// Whether the server is on this machine, by a socket that is a file.
    private var isLocal: Bool {
        let host = parameters["host"] ?? ProcessInfo.processInfo.environment["PGHOST"] ?? ""
        return parameters["hostaddr"] == nil && (host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@"))
    }

    /// Whoever says nothing of TLS gets the whole of it, unless nobody can be on the way.
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

    /// Has the kernel find out within a minute that the other end of a connection is gone without a word: a cut cable, a firewall that has forgotten the
    /// connection, a host that lost its power. Its own default is two hours for a session that only listens.
    private static let keepalives = [
        "keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3", "tcp_user_timeout": "60000",
    ]

    /// Sets what the URL leaves open; a service file says it for itself, and a local socket needs none of it.
    private mutating func keepAlive() {
        guard !isLocal, parameters["service"] == nil else { return }
        parameters.merge(Self.keepalives) { own, _ in own }
    }

    /// Whether the server is on this machine, whatever the network is.
    var isLoopback: Bool {
        let host = (parameters["hostaddr"] ?? parameters["host"] ?? "").lowercased()
        return host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }

    /// Whether a password is given with the URL.
    var hasPassword: Bool { parameters["password"] != nil }

    mutating func setPassword(_ password: String) { parameters["password"] = password }

    /// The URL as it may be shown.
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

    /// A schema's name that nobody knows, beside another's.
    static func nameOfPlace(beside schema: String) -> String {
        // Names have 63 bytes.
        var name = schema
        while name.utf8.count > 40 { name.removeLast() }
        return name + "_new_" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    }

    /// The URL with another schema instead of its own, where a store is made in portions: without constraints on what is half there.
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
