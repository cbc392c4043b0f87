import CoreDataToolkit
import Foundation

/// The address of a server, checked: what is joined to it stays below it.
struct RemoteAddress: Sendable {
    let url: URL
    /// What messages call it: without anything that may be a secret.
    let place: String

    /// - Throws: a ``ToolkitError`` for what is no address of a server, and for one with a name and password in it.
    init(_ url: URL, _ kind: String) throws {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let scheme = parts.scheme?.lowercased(),
            scheme == "https" || scheme == "http", let host = parts.host, !host.isEmpty
        else { throw ToolkitError("\(kind) needs an address that begins with https:// or http://.") }
        guard parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil else {
            throw ToolkitError("\(kind) needs an address without a name, a password, '?' or '#' in it.")
        }
        self.url = url
        place = "\(kind) at \(host)\(parts.port.map { ":\($0)" } ?? "")\(parts.path)"
    }

    /// What stands in the header `Host`.
    var host: String {
        let parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        let usual = parts?.scheme?.lowercased() == "https" ? 443 : 80
        guard let port = parts?.port, port != usual else { return parts?.host ?? "" }
        return "\(parts?.host ?? ""):\(port)"
    }

    /// The path as it stands in requests, without a slash at the end.
    var path: String {
        let path = URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedPath ?? ""
        return path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// The address with another path, which is encoded already, and a query.
    func url(path: String, query: String = "") throws -> URL {
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        parts?.percentEncodedPath = path.isEmpty ? "/" : path
        parts?.percentEncodedQuery = query.isEmpty ? nil : query
        guard let url = parts?.url else { throw ToolkitError("\(place): '\(path)' cannot be asked for.") }
        return url
    }

    /// Everything but letters, digits, `-`, `.`, `_` and `~` as `%41`.
    static func encoded(_ text: String, keeping others: String = "") -> String {
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
