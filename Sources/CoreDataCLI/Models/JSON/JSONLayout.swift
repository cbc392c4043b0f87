import CoreDataToolkit

/// The fields of a JSON object in the order in which they are added; empty ones are omitted.
struct JSONObject {
    private(set) var fields: [FieldValue.Field] = []

    mutating func add(_ name: String, _ value: FieldValue?) {
        if let value { fields.append(.init(name: name, value: value)) }
    }

    mutating func add(_ name: String, _ text: String?) { add(name, text.map { FieldValue.text($0) }) }

    mutating func add(_ name: String, _ flag: Bool?) { add(name, flag.map { FieldValue.boolean($0) }) }

    mutating func add(_ name: String, _ flag: Bool, usually value: Bool = false) {
        if flag != value { add(name, FieldValue.boolean(flag)) }
    }

    mutating func add(_ name: String, _ number: Int) {
        if number != 0 { add(name, FieldValue.number(String(number))) }
    }

    mutating func add(_ name: String, _ values: [FieldValue]) {
        if !values.isEmpty { add(name, FieldValue.list(values)) }
    }

    mutating func add(_ name: String, _ texts: [String]) { add(name, texts.map { FieldValue.text($0) }) }

    /// Adds a dictionary, sorted by key, so that the same model gives the same text.
    mutating func add(_ name: String, _ dictionary: [String: String]) {
        if dictionary.isEmpty { return }
        let fields = dictionary.sorted { $0.key < $1.key }
            .map { FieldValue.Field(name: $0.key, value: .text($0.value)) }
        add(name, FieldValue.object(fields))
    }
}

/// Formats JSON for people: values that fit on a line are written on one line.
enum JSONLayout {
    private static let width = 100

    static func text(of value: FieldValue, indent: Int = 0) -> String {
        let short = compact(value)
        if indent + short.count <= width { return short }
        let inner = String(repeating: " ", count: indent + 2)
        let outer = String(repeating: " ", count: indent)
        switch value {
        case .list(let values):
            let lines = values.map { inner + text(of: $0, indent: indent + 2) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(outer)]"
        case .object(let fields):
            let lines = fields.map { inner + JSONText.quoted($0.name) + ": " + text(of: $0.value, indent: indent + 2) }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(outer)}"
        default: return short
        }
    }

    private static func compact(_ value: FieldValue) -> String {
        switch value {
        case .null: "null"
        case .boolean(let flag): flag ? "true" : "false"
        case .number(let digits): digits
        case .text(let text): JSONText.quoted(text)
        case .list(let values): "[" + values.map(compact).joined(separator: ", ") + "]"
        case .object(let fields):
            "{" + fields.map { JSONText.quoted($0.name) + ": " + compact($0.value) }.joined(separator: ", ") + "}"
        }
    }

    /// Returns whether the text is a valid JSON number.
    static func isNumber(_ text: String) -> Bool {
        var scanner = JSONScanner(ByteCursor(FileBytes(text, name: "")))
        guard case .number(text)? = try? scanner.value() else { return false }
        return scanner.cursor.isAtEnd
    }
}
