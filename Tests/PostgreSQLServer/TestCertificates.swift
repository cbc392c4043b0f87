import Foundation

/// Certificates of an authority of a test's own, made with `openssl`.
///
///     let authority = try TestCertificates(in: folder, name: "ours")
///     let certificate = try authority.certificate(for: "localhost")
package struct TestCertificates {
    private let folder: String
    private let name: String

    /// The file with the authority's own certificate.
    package var root: String { "\(folder)/\(name).crt" }
    private var rootKey: String { "\(folder)/\(name).key" }

    private static let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]

    package static var isInstalled: Bool {
        ["/usr/bin/openssl", "/usr/local/bin/openssl"].contains(where: FileManager.default.isExecutableFile)
    }

    /// Why a test is skipped.
    package static let missing = "no openssl is installed, which makes certificates (Debian: apt-get install openssl)"

    package init(in folder: URL, name: String) throws {
        (self.folder, self.name) = (folder.path, name)
        try PostgreSQLServer.run(
            "openssl",
            ["req", "-x509"] + Self.key
                + ["-keyout", rootKey, "-out", root, "-days", "30", "-subj", "/CN=\(name)"])
    }

    /// A certificate for a host, and its key.
    ///
    /// - Parameter days: for how long it is good from now on; less than 0 for one that was good once.
    package func certificate(for host: String, days: Int = 30) throws -> (certificate: String, key: String) {
        let base = "\(folder)/\(name)-\(host)-\(days)"
        try PostgreSQLServer.run(
            "openssl",
            ["req"] + Self.key
                + [
                    "-keyout", base + ".key", "-out", base + ".csr", "-subj", "/CN=\(host)", "-addext",
                    "subjectAltName=DNS:\(host)",
                ])
        try PostgreSQLServer.run(
            "openssl",
            [
                "x509", "-req", "-in", base + ".csr", "-CA", root, "-CAkey", rootKey, "-CAcreateserial", "-out",
                base + ".crt", "-days", "\(days)", "-copy_extensions", "copy",
            ])
        return (base + ".crt", base + ".key")
    }
}
