import Foundation

/// A validated address of a server; paths that are appended to it stay below it.
package struct RemoteAddress: Sendable {
    package let url: URL
    /// The name in messages, without anything that may be secret.
    package let place: String

    /// - Throws: a ``RemoteFailure`` if the URL is not a server address, or contains a name and password.
    package init(_ url: URL, _ kind: String) throws {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let scheme = parts.scheme?.lowercased(),
            scheme == "https" || scheme == "http", let host = parts.host, !host.isEmpty
        else { throw RemoteFailure(.address, "\(kind) needs an address that begins with https:// or http://.") }
        guard parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil else {
            throw RemoteFailure(.address, "\(kind) needs an address without a name, a password, '?' or '#' in it.")
        }
        self.url = url
        place = "\(kind) at \(host)\(parts.port.map { ":\($0)" } ?? "")\(parts.path)"
    }

    /// The value of the header `Host`.
    package var host: String {
        let parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        let usual = parts?.scheme?.lowercased() == "https" ? 443 : 80
        guard let port = parts?.port, port != usual else { return parts?.host ?? "" }
        return "\(parts?.host ?? ""):\(port)"
    }

    /// The path in requests, without a trailing slash.
    package var path: String {
        let path = URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedPath ?? ""
        return path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// Returns the address with another path, which must already be encoded, and a query.
    package func url(path: String, query: String = "") throws -> URL {
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        parts?.percentEncodedPath = path.isEmpty ? "/" : path
        parts?.percentEncodedQuery = query.isEmpty ? nil : query
        guard let url = parts?.url else { throw RemoteFailure(.address, "\(place): '\(path)' cannot be asked for.") }
        return url
    }

    /// Percent-encodes everything except letters, digits, `-`, `.`, `_` and `~`: `%41`.
    package static func encoded(_ text: String, keeping others: String = "") -> String {
        var result = ""
        for byte in text.utf8 {
            let scalar = Unicode.Scalar(byte)
            let isPlain =
                scalar.isASCII && (scalar.properties.isAlphabetic || (0x30...0x39).contains(byte))
                || "-._~".unicodeScalars.contains(scalar) || others.unicodeScalars.contains(scalar)
            if isPlain {
                result.unicodeScalars.append(scalar)
            } else {
                let digits = Array("0123456789ABCDEF")
                result += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
        return result
    }
}
