import Foundation

/// The address of a page of Studio: names and values become percent escapes, so that none of them changes its meaning.
///
///     Address("store", "rows", "A/B?").with("sort", "-name").text     // /store/rows/A%2FB%3F?sort=-name
package struct Address: Sendable, Hashable {
    private var path: [String]
    private var items: [Item] = []
    private var fragment: String?

    private struct Item: Sendable, Hashable {
        var name: String
        var value: String
    }

    package init(_ path: String...) { self.path = path }

    package init(path: [String]) { self.path = path }

    /// Returns the address with this value of the query's item in place of others; without the item for `nil`.
    package func with(_ name: String, _ value: String?) -> Address {
        var copy = self
        copy.items.removeAll { $0.name == name }
        if let value { copy.items.append(Item(name: name, value: value)) }
        return copy
    }

    /// Returns the address of a part of the page.
    package func at(_ fragment: String) -> Address {
        var copy = self
        copy.fragment = fragment
        return copy
    }

    package var text: String {
        var text = "/" + path.map(Self.escaped).joined(separator: "/")
        if !items.isEmpty {
            let pairs = items.map { "\(Self.escaped($0.name))=\(Self.escaped($0.value))" }
            text += "?" + pairs.joined(separator: "&")
        }
        if let fragment { text += "#" + Self.escaped(fragment) }
        return text
    }

    private static let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)

    /// Escapes all bytes but the letters, digits and marks that have no meaning in an address.
    package static func escaped(_ text: String) -> String {
        // A segment of one or two dots would change the path.
        if text == "." || text == ".." { return text.replacing(".", with: "%2E") }
        var result = ""
        for byte in text.utf8 {
            if plain.contains(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += byte < 16 ? "%0" : "%"
                result += String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }

    /// Decodes percent escapes; `nil` for bytes that are no text.
    package static func plain(_ text: some StringProtocol, plusIsBlank: Bool = false) -> String? {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%") {
                guard index + 2 < bytes.count, let high = digit(bytes[index + 1]), let low = digit(bytes[index + 2])
                else { return nil }
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(plusIsBlank && bytes[index] == UInt8(ascii: "+") ? 0x20 : bytes[index])
                index += 1
            }
        }
        return String(validating: result, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}
