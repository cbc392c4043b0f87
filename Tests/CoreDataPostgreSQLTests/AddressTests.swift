import CoreDataSQL
import Foundation
import Testing

@testable import CoreDataPostgreSQLDriver

/// What a URL means to libpq.
@Suite struct AddressTests {
    private func address(_ text: String) throws -> PostgreSQLAddress {
        try PostgreSQLAddress(try #require(URL(string: text)))
    }

    @Test(arguments: [
        (
            "postgresql://shop:geheim@db.example.com:5433/orders?schema=s1&pool=3",
            ["host": "db.example.com", "port": "5433", "user": "shop", "password": "geheim", "dbname": "orders"]
        ),
        ("postgres://shop@10.0.0.1/orders?sslmode=require", ["host": "10.0.0.1", "sslmode": "require"]),
        ("postgresql:///orders?host=/tmp/pg&user=me", ["host": "/tmp/pg", "user": "me", "dbname": "orders"]),
        ("postgresql://%2Ftmp%2Fpg/orders", ["host": "/tmp/pg", "dbname": "orders"]),
        ("postgresql://a%40b@h/x", ["user": "a@b"]),
    ])
    func wordsOfLibpq(url: String, expected: [String: String]) throws {
        let found = try address(url).parameters
        for (word, value) in expected { #expect(found[word] == value, "\(word)") }
        #expect(found["application_name"] == "OpenCoreData")
    }

    @Test func whoSaysNothingOfTLSGetsAllOfIt() throws {
        #expect(try address("postgresql://db.example.com/x").parameters["sslmode"] == "verify-full")
        #expect(try address("postgresql://localhost/x").parameters["sslmode"] == "verify-full")
        #expect(try address("postgresql://db.example.com/x?sslmode=disable").parameters["sslmode"] == "disable")
        #expect(try address("postgresql:///x?host=/tmp").parameters["sslmode"] == nil)
    }

    /// A connection whose other end is gone without a word is to be found out within a minute, unless the URL says otherwise.
    @Test(arguments: [
        ("postgresql://db.example.com/x", "30", "60000"),
        ("postgresql://db.example.com/x?keepalives_idle=5&tcp_user_timeout=0", "5", "0"),
        ("postgresql:///x?host=/tmp", nil, nil), ("postgresql://h/x?service=mine", nil, nil),
    ])
    func keepalives(url: String, idle: String?, limit: String?) throws {
        let found = try address(url).parameters
        #expect(found["keepalives_idle"] == idle && found["tcp_user_timeout"] == limit)
        let replica = try address(url).address(ofReplica: "db2.example.com").parameters
        #expect(replica["keepalives_idle"] == (found["service"] == nil ? idle ?? "30" : nil))
    }

    @Test func schemaAndPoolAreOurs() throws {
        let found = try address("postgresql://h/x?schema=My%20Shop&pool=3")
        #expect(found.schema == "My Shop" && found.poolSize == 3)
        #expect(found.parameters["schema"] == nil && found.parameters["pool"] == nil)
        #expect(try address("postgresql://h/x").schema == "public")
        let others = try address("postgresql://h/x?pooler=transaction&engine=cockroachdb&poll=0.5")
        #expect(others.pooler == .transaction && others.engine == .cockroachDB && others.pollInterval == 0.5)
        #expect(["pooler", "engine", "poll"].allSatisfy { others.parameters[$0] == nil })
    }

    @Test(arguments: [
        "postgresql://h/x?sckema=a", "postgresql://h/x?schema=", "postgresql://h/x?schema=pg_mine",
        "postgresql://h/x?pool=0", "postgresql://h/x?pooler=both", "postgresql://h/x?engine=oracle",
        "postgresql://h/x?poll=0", "postgresql://h/x?replicas=", "postgresql://h/x?replicas=a,b:99999",
        "postgresql://h/x?replicas=b:", "postgresql://h/x?replicas=[::1]:x",
        "https://h/x", "postgresql://h/x?password2=geheim",
    ])
    func whatIsNotUnderstoodIsAnError(url: String) throws {
        let failure = #expect(throws: SQLFailure.self) { try address(url) }
        #expect(failure?.kind == .cannotOpen)
        #expect(failure?.message.isEmpty == false)
    }

    @Test(arguments: [
        "postgresql://shop:geheim@h/x?schema=a", "postgresql://h/x?password=geheim&schema=a",
        "postgresql://shop:geheim@h/x?unknown=1",
    ])
    func passwordsAreNotShown(url: String) throws {
        let given = try #require(URL(string: url))
        #expect(!PostgreSQLAddress.withoutPassword(given).absoluteString.contains("geheim"))
        do {
            #expect(!(try PostgreSQLAddress(given)).description.contains("geheim"))
        } catch { #expect(!"\(error)".contains("geheim")) }
    }

    @Test(arguments: [
        ([0, 0, 0, 0], "0"), ([1, 0, 0, 0, 7], "7"), ([2, 0, 0, 1, 12, 5000], "12.5"),
        ([1, 1, 0x4000, 0, 3], "-30000"),
        ([1, -1, 0, 4, 1], "0.0001"), ([1, -2, 0, 8, 25], "0.00000025"), ([2, 0, 0, 2, 1, 5000], "1.5"),
        ([0, 0, 0xC000, 0], "NaN"), ([3, 2, 0, 0, 1, 2, 3], "100020003"),
    ])
    func numericsAsText(words: [Int], text: String) {
        let wire = words.flatMap { word in [UInt8(truncatingIfNeeded: word >> 8), UInt8(truncatingIfNeeded: word)] }
        #expect(wire.withUnsafeBytes { NumericText.text($0.baseAddress.unsafelyUnwrapped) } == text)
    }

    @Test func whatAURLAsksForHasToBeKnown() {
        for (text, word) in [("foreign-keys,check", "check"), ("", ""), ("none,checks", "none"), ("all", "all")] {
            let error = #expect(throws: SQLFailure.self) {
                try PostgreSQLAddress(#require(URL(string: "postgresql:///x?host=/tmp&constraints=\(text)")))
            }
            #expect(error?.message.contains("'\(word)'") == true)
        }
    }

    @Test(arguments: [
        ("db2.example.com", "db2.example.com", "5432"), ("db2.example.com:5433", "db2.example.com", "5433"),
        ("[::1]:5434", "::1", "5434"), ("[::1]", "::1", "5432"), ("/var/run/other", "/var/run/other", "5432"),
    ])
    func replicasAreHostsOfTheSameDatabase(word: String, host: String, port: String) throws {
        let url = try #require(URL(string: "postgresql://me:geheim@db.example.com:5432/x?schema=s&replicas=\(word)"))
        let address = try PostgreSQLAddress(url)
        #expect(address.replicas == [word] && address.parameters["replicas"] == nil)
        let replica = address.address(ofReplica: word)
        #expect(replica.parameters["host"] == host && replica.parameters["port"] == port)
        #expect(replica.parameters["user"] == "me" && replica.parameters["dbname"] == "x" && replica.schema == "s")
        #expect(replica.replicas.isEmpty && !replica.description.contains("geheim"))
        // A socket next to it does not leave a server on the network without encryption.
        let local = try PostgreSQLAddress(
            try #require(URL(string: "postgresql:///x?host=/tmp&replicas=db2.example.com")))
        #expect(local.parameters["sslmode"] == nil)
        #expect(local.address(ofReplica: "db2.example.com").parameters["sslmode"] == "verify-full")
    }

    @Test(arguments: [
        ("PostgreSQL 15.14 (Debian 15.14-0+deb12u1) on x86_64-pc-linux-gnu", PostgreSQLEngine.postgreSQL),
        ("PostgreSQL 15.12-YB-2025.1.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang", .yugabyteDB),
        ("CockroachDB CCL v25.2.0 (x86_64-pc-linux-gnu, built 2025/05/01, go1.23)", .cockroachDB),
    ])
    func enginesAreToldByTheirVersions(version: String, engine: PostgreSQLEngine) {
        #expect(PostgreSQLEngine.of(version: version) == engine)
    }
}
