import CoreDataPrimitives
import CoreDataToolkit

/// Consumes the fields of a JSON object one by one, and reports those with a wrong type or an unknown name.
struct JSONObjectReader {
    /// The object's name in messages: `entity 'Book'`.
    var what: String
    let place: SourceLocation
    let problems: ReadingProblems
    private var fields: [LocatedJSON.Field] = []
    private var asked: [String] = []

    init(_ value: LocatedJSON, _ what: String, _ problems: ReadingProblems) {
        self.what = what
        self.problems = problems
        place = value.place
        guard case .object(let fields) = value.content else {
            problems.report("\(what) must be an object, {…}", at: value.place)
            return
        }
        self.fields = fields
    }

    mutating func take(_ name: String) -> LocatedJSON? {
        asked.append(name)
        guard let index = fields.firstIndex(where: { $0.name == name }) else { return nil }
        return fields.remove(at: index).value
    }

    mutating func text(_ name: String) -> String? {
        leaf(name, "a text in quotes") { if case .text(let text) = $0 { text } else { nil } }
    }

    /// Returns a required text; if it is missing, reports it and returns an empty text.
    mutating func requiredText(_ name: String) -> String {
        let isThere = fields.contains { $0.name == name }
        if !isThere { problems.report("\(what) has no \"\(name)\"", at: place) }
        return text(name) ?? ""
    }

    mutating func optionalFlag(_ name: String) -> Bool? {
        leaf(name, "true or false") { if case .boolean(let flag) = $0 { flag } else { nil } }
    }

    mutating func flag(_ name: String, default value: Bool = false) -> Bool { optionalFlag(name) ?? value }

    mutating func integer(_ name: String) -> Int? {
        leaf(name, "a whole number") { if case .number(let digits) = $0 { Int(digits) } else { nil } }
    }

    /// Returns a number as written, or a text.
    mutating func scalarText(_ name: String) -> String? {
        leaf(name, "a number, a text, true or false") { value in
            switch value {
            case .number(let digits): digits
            case .text(let text): text
            case .boolean(let flag): flag ? "YES" : "NO"
            default: nil
            }
        }
    }

    mutating func list(_ name: String) -> [LocatedJSON] {
        guard let value = take(name) else { return [] }
        if case .list(let elements) = value.content { return elements }
        problems.report("\"\(name)\" of \(what) must be a list, […]", at: value.place)
        return []
    }

    mutating func texts(_ name: String) -> [String] {
        let owner = what
        return list(name).compactMap { element in
            if case .leaf(.text(let text)) = element.content { return text }
            problems.report("\"\(name)\" of \(owner) must be a list of texts", at: element.place)
            return nil
        }
    }

    /// Returns an object whose values are all texts.
    mutating func dictionary(_ name: String) -> [String: String] {
        guard let value = take(name) else { return [:] }
        guard case .object(let fields) = value.content else {
            problems.report("\"\(name)\" of \(what) must be an object, {…}", at: value.place)
            return [:]
        }
        var result: [String: String] = [:]
        for field in fields {
            if case .leaf(.text(let text)) = field.value.content {
                result[field.name] = text
            } else {
                problems.report("\"\(field.name)\" in \"\(name)\" of \(what) must be a text", at: field.value.place)
            }
        }
        return result
    }

    /// Reports the fields that were not read, because a reader must not ignore them.
    func finish() {
        for field in fields {
            let message =
                asked.contains(field.name)
                ? "has \"\(field.name)\" twice"
                : "has an unknown \"\(field.name)\"" + Suggestion.text(for: field.name, among: asked)
            problems.report("\(what) \(message)", at: field.value.place)
        }
    }

    private mutating func leaf<Result>(
        _ name: String, _ kind: String, _ convert: (FieldValue) -> Result?
    ) -> Result? {
        guard let value = take(name) else { return nil }
        if case .leaf(let leaf) = value.content, let result = convert(leaf) { return result }
        problems.report("\"\(name)\" of \(what) must be \(kind)", at: value.place)
        return nil
    }
}
