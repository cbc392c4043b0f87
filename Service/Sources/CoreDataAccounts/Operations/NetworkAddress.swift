import Foundation

/// A network address as text, in the forms that limits and the audit trail use.
struct NetworkAddress: Hashable, Sendable {
    /// The address in its usual form: `192.0.2.1`, `2001:db8::1`.
    let text: String
    /// What counts as one address: an IPv4 address, or an IPv6 network of 64 bits, since one customer has such a
    /// network.
    let network: String

    /// Reads an address, with or without a zone or brackets; `nil` for other texts.
    init?(_ text: String) {
        var text = Substring(text.trimmingCharacters(in: .whitespaces))
        guard text.utf8.count <= 100 else { return nil }
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        if let zone = text.firstIndex(of: "%") { text = text[..<zone] }
        var four = in_addr()
        if inet_pton(AF_INET, String(text), &four) == 1 {
            self.init(four)
            return
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, String(text), &six) == 1 else { return nil }
        var bytes = withUnsafeBytes(of: six) { Array($0) }
        if bytes[..<12] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff] {
            let mapped = bytes[12...].withUnsafeBytes { $0.loadUnaligned(as: in_addr.self) }
            self.init(mapped)
            return
        }
        let full = Self.text(AF_INET6, bytes)
        bytes.replaceSubrange(8..., with: repeatElement(0, count: 8))
        self.init(text: full, network: Self.text(AF_INET6, bytes) + "/64")
    }

    private init(text: String, network: String) { (self.text, self.network) = (text, network) }

    private init(_ four: in_addr) {
        let text = Self.text(AF_INET, withUnsafeBytes(of: four) { Array($0) })
        self.init(text: text, network: text)
    }

    private static func text(_ family: Int32, _ bytes: [UInt8]) -> String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(family, bytes, &buffer, socklen_t(buffer.count)) != nil else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension Client {
    /// The address for the audit trail and the list of sessions; `nil` if it is no address.
    var shownAddress: String? { address.flatMap { NetworkAddress($0)?.text } }

    /// What limits count. All clients whose address is unknown count as one.
    var network: String { address.flatMap { NetworkAddress($0)?.network } ?? "unknown" }

    /// The name of the device: printing characters, at most 100.
    var shownDevice: String {
        let printing = device.unicodeScalars.prefix(400).filter {
            $0.properties.generalCategory != .control && $0.properties.generalCategory != .format
        }
        return String(String(String.UnicodeScalarView(printing)).trimmingCharacters(in: .whitespaces).prefix(100))
    }
}
