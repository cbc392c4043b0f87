import CoreData
import CoreDataPostgreSQL
import CoreDataSQL
import Foundation
import PostgreSQLServer
import TestSupport
import Testing

@testable import CoreDataPostgreSQLDriver

/// Stores on a server by the network: encrypted, and with nobody but whom the certificate names.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct EncryptionTests {
    /// A port that nobody listens at.
    private static func freePort() throws -> UInt16 {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 ? getsockname(listener, $0, &size) : -1
            }
        }
        try #require(code == 0)
        return UInt16(bigEndian: address.sin_port)
    }

    private struct Place {
        let server: PostgreSQLServer
        let port: UInt16
        let schema = Notes.newSchema("t")

        func url(_ host: String, _ rest: String) -> URL? {
            URL(string: "postgresql://\(PostgreSQLServer.user)@\(host):\(port)/postgres?schema=\(schema)\(rest)")
        }

        func set(_ settings: [String]) throws {
            let url = try #require(
                URL(
                    string:
                        "postgresql:///postgres?host=\(server.folder)&port=\(port)&user=\(PostgreSQLServer.user)"))
            let connection = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(url)))
            defer { connection.close() }
            for setting in settings { try connection.execute("ALTER SYSTEM SET \(setting)") }
            // A new session has the time at which the server read its settings.
            func loadTime() throws -> SQLValue {
                let connection = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(url)))
                defer { connection.close() }
                return try #require(try connection.rows("SELECT CAST(pg_conf_load_time() AS TEXT)").first?.first)
            }
            let before = try loadTime()
            try server.reload()
            try Polling.wait(for: "the server to read its settings") { try loadTime() != before }
        }

        func present(_ pair: (certificate: String, key: String)) throws {
            try server.place(pair.certificate, as: "server.crt")
            try server.place(pair.key, as: "server.key")
            try set(["ssl = on"])
        }

        func refusal(_ host: String, _ rest: String) throws -> String {
            let url = try #require(self.url(host, rest))
            let error = #expect(throws: CocoaError.self) { try Notes(url) }
            #expect(error?.code.rawValue == NSPersistentStoreOpenError)
            return error?.localizedDescription ?? ""
        }
    }

    @Test(.enabled(if: TestCertificates.isInstalled, "\(TestCertificates.missing)"))
    func onlyWhomTheCertificateNamesIsTrusted() throws {
        let folder = try Fixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let port = try Self.freePort()
        let place = Place(
            server: try PostgreSQLServer("tls", ["listen_addresses=127.0.0.1", "port=\(port)"]), port: port)
        let (ours, others) = (
            try TestCertificates(in: folder, name: "ours"), try TestCertificates(in: folder, name: "others")
        )
        let trust = "&sslrootcert=\(ours.root)"

        // A server without encryption.
        let plain = try place.refusal("localhost", trust)
        #expect(plain.contains("does not support SSL") && plain.contains("sslmode=disable"))
        let open = try Notes(try #require(place.url("localhost", "&sslmode=disable")))
        let context = open.newContext()
        try context.performAndWait {
            Notes.insert("a", in: context)
            try context.save()
        }

        // The right one: who says nothing but whom to trust gets all of it.
        try place.present(ours.certificate(for: "localhost"))
        let url = try #require(place.url("localhost", trust))
        let notes = try Notes(url)
        #expect(try notes.contents().map(\.name) == ["a"])
        let database = try PostgreSQLDatabase(PostgreSQLOptions(PostgreSQLAddress(url)))
        defer { database.close() }
        let isEncrypted = try database.read { connection in
            let statement = try connection.statement(
                "SELECT ssl::INTEGER FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
            defer { statement.reset() }
            return try statement.step() ? statement.integer(0) : 0
        }
        #expect(isEncrypted == 1)

        // Another name than the certificate's, and an authority that is not trusted: by the URL, or by the system.
        let name = try place.refusal("127.0.0.1", trust)
        #expect(name.contains("does not match host name \"127.0.0.1\""))
        let stranger = try place.refusal("localhost", "&sslrootcert=\(others.root)")
        #expect(stranger.contains("certificate verify failed") && stranger.contains(others.root))
        #expect(try place.refusal("localhost", "").contains("certificate verify failed"))
        #expect(try place.refusal("localhost", "&sslrootcert=/nowhere/ca.crt").contains("/nowhere/ca.crt"))

        // One that was good once. What is connected stays so.
        try place.present(ours.certificate(for: "localhost", days: -1))
        let expired = try place.refusal("localhost", trust)
        #expect(expired.contains("certificate verify failed") && expired.contains("expired"))
        #expect(try notes.contents().map(\.name) == ["a"])
    }
}
