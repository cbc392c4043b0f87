import CoreData
import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Words that can follow in a predicate, at a place in its text.
struct PredicateCompletion {
    struct Item: Encodable, Hashable, Sendable {
        var text: String
        var detail: String
    }

    /// The range of the text that an item replaces, in UTF-16 units as scripts count them.
    let start: Int
    let end: Int
    let items: [Item]

    private static let limit = 30

    /// - Parameter caret: the place in UTF-16 units.
    init(_ text: String, caret: Int, of entity: NSEntityDescription) {
        let units = Array(text.utf16)
        let caret = min(max(caret, 0), units.count)
        let before = String(decoding: units[..<caret], as: UTF16.self)
        let tokens = Token.all(in: before)
        var typed = ""
        var rest = tokens[...]
        if case .word(let word)? = tokens.last, before.last.map(Token.isPart) == true {
            typed = word
            rest = tokens.dropLast()
        }
        end = caret
        if rest.last?.isOpenText == true {
            // Nothing completes a text.
            (start, items) = (caret, [])
            return
        }
        let found: [Item]
        switch Self.expected(behind: rest, entity) {
        case .operand:
            let path = typed.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            let prefix = path.last ?? ""
            start = caret - prefix.utf16.count
            found = Self.operands(path, prefix, of: entity)
        case .comparison:
            start = caret - typed.utf16.count
            found = Self.matching(Self.operators, typed)
        case .value(let attribute):
            start = caret - typed.utf16.count
            found = Self.matching(Self.values(of: attribute), typed)
        case .conjunction:
            start = caret - typed.utf16.count
            found = Self.matching([Item(text: "AND", detail: "both"), Item(text: "OR", detail: "either")], typed)
        }
        items = Array(found.prefix(Self.limit))
    }

    // MARK: The expected part

    private enum Part {
        case operand, comparison, conjunction
        case value(NSAttributeDescription?)
    }

    private static let words: Set = ["AND", "OR", "NOT", "ANY", "ALL", "NONE", "SOME"]
    private static let comparisons: Set = [
        "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES", "IN", "BETWEEN",
    ]

    private static func expected(behind tokens: ArraySlice<Token>, _ entity: NSEntityDescription) -> Part {
        guard let last = tokens.last else { return .operand }
        switch last {
        case .sign("("), .sign("!"), .sign("&&"), .sign("||"), .sign(","), .sign("{"): return .operand
        case .sign(")"), .sign("}"), .text, .number: return .conjunction
        case .sign: return .value(attribute(before: tokens.dropLast(), entity))
        case .openText: return .conjunction
        case .word(let word):
            if words.contains(word.uppercased()) { return .operand }
            let name = word.prefix { $0 != "[" }.uppercased()
            if comparisons.contains(name) { return .value(attribute(before: tokens.dropLast(), entity)) }
            // The second operand of a comparison ends it.
            let before = tokens.dropLast().last
            if let before, before.isComparison { return .conjunction }
            return .comparison
        }
    }

    private static func attribute(
        before tokens: ArraySlice<Token>, _ entity: NSEntityDescription
    ) -> NSAttributeDescription? {
        guard case .word(let path)? = tokens.last else { return nil }
        return property(path.split(separator: ".").map(String.init), of: entity) as? NSAttributeDescription
    }

    private static func property(_ path: [String], of entity: NSEntityDescription) -> NSPropertyDescription? {
        var current: NSEntityDescription? = entity
        for (index, name) in path.enumerated() {
            let property = current?.propertiesByName[name]
            if index == path.count - 1 { return property }
            current = (property as? NSRelationshipDescription)?.destinationEntity
        }
        return nil
    }

    // MARK: Items

    private static func operands(_ path: [String], _ prefix: String, of entity: NSEntityDescription) -> [Item] {
        var owner: NSEntityDescription? = entity
        var isToMany = false
        for name in path.dropLast() {
            let relationship = owner?.relationshipsByName[name]
            isToMany = relationship?.isToMany ?? false
            owner = relationship?.destinationEntity
        }
        guard let owner else { return [] }
        var items = owner.propertiesByName.values.sorted { $0.name < $1.name }.map { property -> Item in
            let detail =
                switch property {
                case let attribute as NSAttributeDescription: TypeName.text(attribute)
                case let relationship as NSRelationshipDescription: TypeName.text(relationship)
                default: ""
                }
            return Item(text: NSExpression(forKeyPath: property.name).description, detail: detail)
        }
        if isToMany { items.insert(Item(text: "@count", detail: "the number of objects"), at: 0) }
        if path.count < 2 {
            items += [
                Item(text: "NOT", detail: "the opposite"), Item(text: "ANY", detail: "at least one of a to-many"),
                Item(text: "ALL", detail: "each of a to-many"), Item(text: "NONE", detail: "none of a to-many"),
                Item(text: "SELF", detail: "the object"),
            ]
        }
        return matching(items, prefix)
    }

    private static let operators = [
        Item(text: "==", detail: "equal"), Item(text: "!=", detail: "not equal"),
        Item(text: "<", detail: "less"), Item(text: "<=", detail: "less or equal"),
        Item(text: ">", detail: "greater"), Item(text: ">=", detail: "greater or equal"),
        Item(text: "CONTAINS[cd]", detail: "has the text"),
        Item(text: "BEGINSWITH[cd]", detail: "begins with the text"),
        Item(text: "ENDSWITH[cd]", detail: "ends with the text"),
        Item(text: "LIKE[cd]", detail: "pattern with * and ?"),
        Item(text: "MATCHES", detail: "regular expression"), Item(text: "IN", detail: "one of {…}"),
        Item(text: "BETWEEN", detail: "{from, to}"),
    ]

    private static func values(of attribute: NSAttributeDescription?) -> [Item] {
        let none = Item(text: "nil", detail: "no value")
        switch attribute?.kind {
        case .boolean?: return [Item(text: "YES", detail: "true"), Item(text: "NO", detail: "false"), none]
        case .date?:
            return [Item(text: "'2026-01-01'", detail: "a date"), Item(text: "now()", detail: "this moment"), none]
        case .text?: return [Item(text: "''", detail: "a text in quotes"), none]
        default: return [none]
        }
    }

    /// Returns the items that begin with what is typed, then those that contain it.
    private static func matching(_ items: [Item], _ typed: String) -> [Item] {
        guard !typed.isEmpty else { return items }
        let lower = typed.lowercased()
        let first = items.filter { $0.text.lowercased().hasPrefix(lower) }
        let others = items.filter { !first.contains($0) && $0.text.lowercased().contains(lower) }
        return (first + others).filter { $0.text != typed }
    }
}

extension PredicateCompletion {
    /// A part of a predicate's text.
    fileprivate enum Token: Equatable {
        case word(String)
        case number
        case text
        /// A text whose end is missing.
        case openText
        case sign(String)

        var isOpenText: Bool { self == .openText }

        var isComparison: Bool {
            switch self {
            case .sign(let sign): !["(", ")", "{", "}", ",", "&&", "||", "!"].contains(sign)
            case .word(let word):
                PredicateCompletion.comparisons.contains(word.prefix { $0 != "[" }.uppercased())
            case .number, .text, .openText: false
            }
        }

        static func isPart(_ character: Character) -> Bool {
            character.isLetter || character.isNumber || "_.@$#[]".contains(character)
        }

        static func all(in text: String) -> [Token] {
            var tokens: [Token] = []
            var rest = text[...]
            while let first = rest.first {
                if first.isWhitespace {
                    rest.removeFirst()
                } else if first == "'" || first == "\"" {
                    rest.removeFirst()
                    tokens.append(skipText(&rest, first) ? .text : .openText)
                } else if isPart(first) {
                    let word = rest.prefix(while: isPart)
                    tokens.append(first.isNumber ? .number : .word(String(word)))
                    rest = rest[word.endIndex...]
                } else {
                    let two = String(rest.prefix(2))
                    let sign =
                        ["==", "!=", "<=", ">=", "=<", "=>", "<>", "&&", "||"].contains(two) ? two : String(first)
                    tokens.append(.sign(sign))
                    rest = rest.dropFirst(sign.count)
                }
            }
            return tokens
        }

        /// Skips a text; returns whether it has an end.
        private static func skipText(_ rest: inout Substring, _ quote: Character) -> Bool {
            while let next = rest.popFirst() {
                if next == "\\" {
                    _ = rest.popFirst()
                } else if next == quote {
                    return true
                }
            }
            return false
        }
    }
}

/// The answer to a script that completes a predicate.
struct CompletionPage: Sendable {
    let browser: StoreBrowser

    private struct Answer: Encodable {
        var start: Int
        var end: Int
        var items: [PredicateCompletion.Item]
    }

    func response(_ visit: Visit) throws -> StudioResponse {
        let text = visit.query["text"] ?? ""
        let completion = PredicateCompletion(
            text, caret: visit.query.number("caret") ?? text.utf16.count,
            of: try browser.entity(visit.parameter("entity")))
        return try .json(Answer(start: completion.start, end: completion.end, items: completion.items))
    }
}
