import CoreDataCodeGeneration
import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Writes values as Swift literals.
enum SwiftText {
    static func quoted(_ text: String) -> String {
        TextEscapes.quoted(text) { "\\u{\(String($0.value, radix: 16))}" }
    }

    static func list(_ texts: [String]) -> String { "[" + texts.map(quoted).joined(separator: ", ") + "]" }

    static func dictionary(_ texts: [String: String]) -> String {
        "["
            + texts.sorted { $0.key < $1.key }.map { "\(quoted($0.key)): \(quoted($0.value))" }
            .joined(separator: ", ") + "]"
    }
}

/// A call of an initialiser with a trailing closure and modifiers, broken into lines.
///
///     ModelAttribute("title", .string, default: "").required()
struct SwiftCall {
    var name: String
    var arguments: [String]
    var body: [String] = []
    private var modifiers: [String] = []
    private static let width = 100

    init(_ name: String, _ arguments: [String] = []) {
        self.name = name
        self.arguments = arguments
    }

    /// Adds a modifier, unless its argument is `nil`.
    mutating func modify(_ name: String, _ argument: String?) {
        if let argument { modifiers.append(".\(name)(\(argument))") }
    }

    var head: String { arguments.isEmpty ? name : "\(name)(\(arguments.joined(separator: ", ")))" }

    var lines: [String] {
        guard body.isEmpty else { return ["\(head) {"] + body.map { "    " + $0 } + ["}"] + modifiers }
        let head = arguments.isEmpty ? "\(name)()" : self.head
        let line = head + modifiers.joined()
        if line.count <= Self.width { return [line] }
        return brokenHead(head) + modifiers.map { "    " + $0 }
    }

    /// Returns the call without modifiers, with arguments on separate lines if necessary.
    private func brokenHead(_ head: String) -> [String] {
        if head.count <= Self.width { return [head] }
        let joined = "    " + arguments.joined(separator: ", ") + ")"
        if joined.count <= Self.width { return ["\(name)(", joined] }
        let last = arguments.count - 1
        return ["\(name)("] + arguments.enumerated().map { "    " + $1 + ($0 == last ? ")" : ",") }
    }
}

/// The names of the type and of the functions that declare a model's versions.
struct DeclarationNames {
    let type: String
    private(set) var functions: [String: String] = [:]

    init(_ versions: ModelVersions) {
        let name = Self.identifier(versions.name)
        type = name.prefix(1).uppercased() + name.dropFirst() + (name.hasSuffix("Model") ? "" : "Model")
        var taken = Self.reserved
        for version in versions.versions {
            let name = Self.identifier(version.name)
            let base = name.prefix(1).lowercased() + name.dropFirst()
            var function = taken.contains(base) ? base + "Model" : base
            var number = 2
            while !taken.insert(function).inserted {
                function = "\(base)Model\(number)"
                number += 1
            }
            functions[version.name] = SwiftNames.identifier(function)
        }
    }

    /// The names of the type's other declarations.
    private static let reserved: Set<String> = ["versions", "currentVersion"]

    private static func identifier(_ text: String) -> String {
        let words = text.split { !($0.isLetter || $0.isNumber || $0 == "_") }
        let joined = words.enumerated().map { $0 == 0 ? String($1) : $1.prefix(1).uppercased() + $1.dropFirst() }
            .joined()
        return joined.first?.isNumber ?? true ? "version\(joined)" : joined
    }
}
