/// Keeps messages from the answer to a form until the page that follows.
@MainActor package final class Flashes {
    private static let kept = 200
    private var messages: [String: Flash] = [:]
    private var order: [String] = []

    /// Keeps a message under a random name.
    package func keep(_ flash: Flash) -> String {
        let name = Secret.make()
        messages[name] = flash
        order.append(name)
        if order.count > Self.kept { messages[order.removeFirst()] = nil }
        return name
    }

    package func take(_ name: String) -> Flash? {
        guard let flash = messages.removeValue(forKey: name) else { return nil }
        order.removeAll { $0 == name }
        return flash
    }
}

/// Random texts, and how to compare them.
package enum Secret {
    /// 128 random bits as hexadecimal digits.
    package static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = [generator.next(), generator.next()].map { String($0, radix: 16) }
        return digits.map { String(repeating: "0", count: 16 - $0.count) + $0 }.joined()
    }

    package static func isOne(_ text: String) -> Bool {
        text.utf8.count == 32 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// In a time that does not depend on where they differ.
    package static func areEqual(_ a: String, _ b: String) -> Bool {
        let a = Array(a.utf8)
        let b = Array(b.utf8)
        guard a.count == b.count else { return false }
        return zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
