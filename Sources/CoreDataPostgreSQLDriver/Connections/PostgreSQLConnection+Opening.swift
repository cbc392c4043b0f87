import CPostgreSQL
import CoreDataSQL
import Foundation

// Opens a session, and explains why opening failed.
extension PostgreSQLConnection {
    static func poolerInTheWay(_ address: PostgreSQLAddress) -> SQLFailure {
        SQLFailure(
            kind: .cannotOpen, code: 0,
            message:
                "cannot open '\(address.description)': a pooler, such as PgBouncer, answers in the server's place. Say pooler=transaction in the URL; or pooler=session, where it gives each session one of the server's for as long as it lasts"
        )
    }

    static func open(_ address: PostgreSQLAddress, timeout: Duration) throws -> OpaquePointer {
        var parameters = address.parameters
        if parameters["connect_timeout"] == nil {
            parameters["connect_timeout"] = String(max(2, timeout.components.seconds))
        }
        parameters["client_encoding"] = "UTF8"
        let words = parameters.sorted { $0.key < $1.key }
        var keys = words.map { strdup($0.key) }.map { UnsafePointer($0) } + [nil]
        var values = words.map { strdup($0.value) }.map { UnsafePointer($0) } + [nil]
        defer {
            for text in keys + values { free(UnsafeMutableRawPointer(mutating: text)) }
        }
        guard let handle = PQconnectdbParams(&keys, &values, 0) else {
            throw SQLFailure(kind: .cannotOpen, code: 0, message: "there is no memory for a connection")
        }
        guard PQstatus(handle) == CONNECTION_OK else {
            var message = SQLFailure.text(PQerrorMessage(handle))
            if let password = parameters["password"], !password.isEmpty {
                message = message.replacing(password, with: "…")
            }
            PQfinish(handle)
            if message.contains("certificate verify failed") {
                // libpq does not report the reason.
                message +=
                    " (the server's certificate has expired, or is not signed by an authority of \(parameters["sslrootcert"] ?? "~/.postgresql/root.crt"); sslrootcert= in the URL names the file of those that are trusted)"
            }
            if message.contains("does not support SSL"), address.isLoopback {
                message +=
                    " (the server has no TLS. It is on this machine, where no one else can listen in: sslmode=disable in the URL connects without)"
            }
            throw SQLFailure(
                kind: .cannotOpen, code: 0, message: "cannot open '\(address.description)': \(message)")
        }
        return handle
    }

    /// The dialect for planning requests.
    var plannedDialect: SQLDialect {
        dialect.ofDatabase(encoding: PQparameterStatus(handle, "server_encoding").map { String(cString: $0) })
    }

    static func forbidden(_ address: PostgreSQLAddress) -> SQLFailure {
        SQLFailure(
            kind: .unreadable, code: SQLFailure.number(ofState: "42501"),
            message:
                "cannot open '\(address.description)': permission denied for schema \(address.schema); its owner can GRANT USAGE ON SCHEMA"
        )
    }
}

extension SQLDialect {
    /// Returns the dialect of a database with the text encoding; `nil` if the server does not report it. Regular
    /// expressions work on characters of the encoding, and ours are written for Unicode.
    func ofDatabase(encoding: String?) -> SQLDialect { encoding == "UTF8" ? self : withoutPatterns() }
}
