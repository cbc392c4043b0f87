import CoreData
import CoreDataToolkit
import Foundation

/// A value in the output.
package indirect enum CellValue: Equatable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case decimal(Decimal)
    case text(String)
    case date(Date)
    case data(Data)
    /// An object, by its ID's URI.
    case reference(String)
    /// The number of objects in a to-many.
    case count(Int)
    case list([CellValue])
    case object([Member])
    /// The text of a JSON value.
    case json(String)

    package struct Member: Equatable, Sendable {
        package var name: String
        package var value: CellValue

        package init(name: String, value: CellValue) {
            self.name = name
            self.value = value
        }
    }

    /// The value in a table: binary data as its size, nil as `NULL`, an object without its store as `Item/p12`, a
    /// composite as `city: Oslo, geo: {x: 1.5}`.
    package var tableText: String {
        switch self {
        case .null: "NULL"
        case .reference(let uri): ObjectURI(uri).map { "\($0.entity)/\($0.reference)" } ?? uri
        case .data(let data): "<\(data.count) bytes>"
        case .list(let values): values.map(\.tableText).joined(separator: ", ")
        case .object(let members): Self.tableText(members)
        default: text ?? ""
        }
    }

    /// Returns the members that have values, with their names.
    private static func tableText(_ members: [Member]) -> String {
        let texts = members.filter { $0.value != .null }.map { member in
            if case .object = member.value { return "\(member.name): {\(member.value.tableText)}" }
            return "\(member.name): \(member.value.tableText)"
        }
        return texts.isEmpty ? CellValue.null.tableText : texts.joined(separator: ", ")
    }

    /// The value in CSV and XML, an object as JSON; `nil` for nil.
    ///
    /// A list has no such form; its values are separated by commas, for people.
    package var text: String? {
        switch self {
        case .null: nil
        case .boolean(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .count(let value): String(value)
        case .real(let value): Self.text(value)
        case .decimal(let value): value.description
        case .text(let value), .reference(let value), .json(let value): value
        case .date(let value): Self.text(value)
        case .data(let value): value.base64EncodedString()
        case .list(let values): values.map { $0.text ?? "" }.joined(separator: ", ")
        case .object: json
        }
    }

    /// The value as JSON.
    package var json: String {
        switch self {
        case .null: "null"
        case .boolean, .integer, .count, .decimal, .json: text ?? "null"
        case .real(let value): value.isFinite ? Self.text(value) : JSONText.quoted(Self.text(value))
        case .text, .date, .data, .reference: JSONText.quoted(text ?? "")
        case .list(let values): "[" + values.map(\.json).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.map { "\(JSONText.quoted($0.name)): \($0.value.json)" }.joined(separator: ", ") + "}"
        }
    }

    package var isNumber: Bool {
        switch self {
        case .integer, .real, .decimal, .count: true
        default: false
        }
    }

    /// Returns ISO 8601; for a date that ISO 8601 cannot represent exactly, the seconds since 2001.
    private static func text(_ value: Date) -> String {
        let text = DateText.text(value)
        return DateText.date(text) == value ? text : String(value.timeIntervalSinceReferenceDate)
    }

    /// Returns `2` instead of `2.0`.
    private static func text(_ value: Double) -> String {
        let text = String(value)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
