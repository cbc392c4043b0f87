import CoreData
import CoreDataDigests
import CoreDataSyncEngine
import Foundation

/// The kind of an attribute's values. Each value stands for a number, so that the check knows which write made it.
package enum SimulatedValue: String, Hashable, Sendable, CaseIterable {
    case string, integer, double, decimal, date, data, uuid, uri, composite, transformable, boolean
    /// A text of which some values are so large that they are files of their own.
    case large

    var type: NSAttributeType {
        switch self {
        case .string, .large: .stringAttributeType
        case .integer: .integer64AttributeType
        case .double: .doubleAttributeType
        case .decimal: .decimalAttributeType
        case .date: .dateAttributeType
        case .data: .binaryDataAttributeType
        case .uuid: .UUIDAttributeType
        case .uri: .URIAttributeType
        case .boolean: .booleanAttributeType
        case .transformable: .transformableAttributeType
        case .composite: .compositeAttributeType
        }
    }

    /// Whether the number can be read from the value, and from an entry of the journal.
    package var tellsNumber: Bool { self != .boolean && self != .transformable }

    /// Whether `min`, `max` and `sum` are possible.
    package var isNumber: Bool { [.integer, .double, .decimal].contains(self) }

    package func value(_ number: Int) -> Any {
        switch self {
        case .string: Self.text(number)
        case .large: number % 4 == 0 ? Self.largeText(number) : Self.text(number)
        case .integer: number
        case .double: Double(number)
        case .decimal: NSDecimalNumber(value: number)
        case .date: Date(timeIntervalSinceReferenceDate: Double(number))
        case .data: Data(Self.text(number).utf8)
        case .uuid: Self.identifier(number)
        case .uri: URL(string: "number:\(Self.text(number))") as Any
        case .composite: ["first": Self.text(number), "second": number]
        case .transformable: [Self.text(number)] as NSArray
        case .boolean: number % 2 == 0
        }
    }

    /// The number that a value of the kind stands for; `nil` for none.
    package func number(of value: Any?) -> Int? {
        switch (self, value) {
        case (.string, let text as String), (.large, let text as String): Self.number(text)
        case (.integer, let number?), (.double, let number?), (.decimal, let number?):
            Double("\(number)").flatMap { Int(exactly: $0) }
        case (.date, let date as Date): Int(date.timeIntervalSinceReferenceDate)
        case (.data, let data as Data): Self.number(String(decoding: data, as: UTF8.self))
        case (.uuid, let id as UUID): Int(Identifier128(id).low & 0xFFFF_FFFF)
        case (.uri, let url as URL): Self.number(String(url.absoluteString.dropFirst(7)))
        case (.composite, let elements as [String: Any]): (elements["first"] as? String).flatMap { Self.number($0) }
        default: nil
        }
    }

    /// The number that a value of the journal stands for.
    package static func number(of value: SyncValue) -> Int? {
        switch value {
        case .integer(let number): Int(number)
        case .double(let bits), .date(let bits): Int(exactly: Double(bitPattern: bits))
        case .decimal(let text): Int(text)
        case .string(let text): number(text)
        case .data(let data): number(String(decoding: data, as: UTF8.self))
        case .uuid(let id): Int(id.low & 0xFFFF_FFFF)
        case .uri(let text): number(String(text.dropFirst(7)))
        case .null, .reference, .blob, .stored: nil
        }
    }

    /// The digest by which other devices know a large value; `nil` for a small one.
    package func digest(_ number: Int) -> Data? {
        self == .large && number % 4 == 0 ? Digests.sha256(Data(Self.largeText(number).utf8)) : nil
    }

    package static func identifier(_ number: Int) -> UUID {
        Identifier128(high: 0x4000, low: 0x8000_0000_0000_0000 + UInt64(number)).uuid
    }

    private static func text(_ number: Int) -> String { "v\(number)" }
    private static func largeText(_ number: Int) -> String { "v\(number) " + String(repeating: "x", count: 17_000) }

    private static func number(_ text: String) -> Int? {
        text.first == "v" ? Int(text.dropFirst().prefix { $0.isNumber }) : nil
    }
}
