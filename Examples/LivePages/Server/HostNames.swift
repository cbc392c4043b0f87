import Foundation

/// The names under which a server answers.
///
/// A page elsewhere can have its own name lead to this machine; for the browser the server is then that page's own, and its script reads
/// what is here. So a server answers to names that no other site can use: those of this machine alone, addresses of the machine, and names
/// that its owner has allowed.
package struct HostNames: Sendable {
    private let names: Set<String>
    /// Whether others than this machine reach the server.
    private let listensToNetwork: Bool
    /// The addresses of the machine; it may get others while the server runs.
    private let addresses: @Sendable () -> Set<String>

    /// - Parameters:
    ///   - host: where the server listens.
    ///   - allowed: names that its owner has allowed.
    package init(
        host: String, allowed: [String] = [],
        addresses: @escaping @Sendable () -> Set<String> = { MachineAddresses.all }
    ) {
        let own = Self.bracketed(host)
        names = Self.loopback.union([own]).union(allowed.map(Self.bracketed))
        listensToNetwork = !Self.isLoopback(host)
        self.addresses = addresses
    }

    private static let loopback: Set = ["127.0.0.1", "localhost", "[::1]"]

    /// Whether a server that listens there is reached by programs of this machine only.
    static func isLoopback(_ host: String) -> Bool { loopback.contains(bracketed(host)) }

    /// Whether the server answers to what a request says in its header Host.
    package func contains(_ authority: String) -> Bool {
        let name = Self.name(of: authority)
        if names.contains(name) { return true }
        guard listensToNetwork,
            name.hasPrefix("[") || name.utf8.allSatisfy({ $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) })
        else { return false }
        return addresses().contains(name)
    }

    /// The name in a header Host: without the port, in small letters.
    package static func name(of authority: String) -> String {
        let authority = authority.lowercased()
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") { return String(authority[...end]) }
        return authority.split(separator: ":", omittingEmptySubsequences: false).first.map(String.init) ?? ""
    }

    /// An address of version 6 as it stands in a header; other names in small letters.
    private static func bracketed(_ name: String) -> String {
        let name = name.lowercased()
        return name.contains(":") && !name.hasPrefix("[") ? "[\(name)]" : name
    }
}

/// The addresses of this machine.
package enum MachineAddresses {
    /// Those of all its networks, as they stand in a header Host.
    package static var all: Set<String> {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var addresses: Set<String> = []
        var next = first
        while let entry = next?.pointee {
            next = entry.ifa_next
            if let address = entry.ifa_addr, let text = text(of: address) { addresses.insert(text) }
        }
        return addresses
    }

    private static func text(of address: UnsafeMutablePointer<sockaddr>) -> String? {
        let family = Int32(address.pointee.sa_family)
        guard family == AF_INET || family == AF_INET6 else { return nil }
        let size = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
        var buffer = [CChar](repeating: 0, count: 128)
        guard getnameinfo(address, socklen_t(size), &buffer, socklen_t(buffer.count), nil, 0, NI_NUMERICHOST) == 0
        else { return nil }
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        // An address of version 6 may have the name of its network behind it.
        let text = String(decoding: bytes, as: UTF8.self).prefix { $0 != "%" }
        return family == AF_INET ? String(text) : "[\(text)]"
    }
}
