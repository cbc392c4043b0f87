import CoreDataDigests
import Foundation

/// The name of a file in a device's folder.
///
/// Numbers have 16 digits, so that the order of names is that of numbers.
package enum FileName: Hashable, Sendable, CustomStringConvertible {
    case hello(UInt64)
    case segment(UInt64)
    case snapshot(UInt64)
    /// A large value, by the SHA-256 of its bytes.
    case blob(Data)
    /// A ``ModelOutline``, by its hash.
    case model(Data)

    /// The greatest number that a name can hold.
    package static let greatestNumber: UInt64 = 9_999_999_999_999_999

    /// The file of a name; `nil` for a name that this version does not know, whose file is ignored.
    package init?(_ name: String) {
        guard let dash = name.utf8.firstIndex(of: UInt8(ascii: "-")) else { return nil }
        let rest = name[name.index(after: dash)...]
        switch name[..<dash] {
        case "hello": self.init(rest, FileName.hello)
        case "segment": self.init(rest, FileName.segment)
        case "snapshot": self.init(rest, FileName.snapshot)
        case "blob": self.init(rest, FileName.blob)
        case "model": self.init(rest, FileName.model)
        default: return nil
        }
    }

    private init?(_ digits: Substring, _ make: (UInt64) -> FileName) {
        guard digits.utf8.count == 16, digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
            let number = UInt64(digits), number > 0
        else { return nil }
        self = make(number)
    }

    private init?(_ digits: Substring, _ make: (Data) -> FileName) {
        guard let digest = Hexadecimal.bytes(digits), digest.count == 32 else { return nil }
        self = make(digest)
    }

    package var description: String {
        switch self {
        case .hello(let number): "hello-" + Self.padded(number)
        case .segment(let number): "segment-" + Self.padded(number)
        case .snapshot(let number): "snapshot-" + Self.padded(number)
        case .blob(let digest): "blob-" + Digests.hex(digest)
        case .model(let hash): "model-" + Digests.hex(hash)
        }
    }

    /// A number in names, with 16 digits at least: in the order of their text, names are in the order of their numbers.
    package static func padded(_ number: UInt64) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 16 - digits.count)) + digits
    }
}

/// Bytes of digits; `Digests.hex` writes them.
enum Hexadecimal {
    /// The bytes of digits in lower case; another digit or an odd number of them gives `nil`.
    static func bytes(_ text: Substring) -> Data? {
        guard text.utf8.count % 2 == 0 else { return nil }
        var result: [UInt8] = []
        var high: UInt8?
        for digit in text.utf8 {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let first = high {
                result.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return Data(result)
    }
}
