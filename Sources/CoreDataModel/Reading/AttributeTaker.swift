import CoreDataPrimitives

/// Consumes the attributes of an XML element one by one; ``rest`` contains the unread ones.
struct AttributeTaker {
    let element: MarkupElement
    private(set) var rest: [String: String]
    private(set) var problems: [Diagnostic] = []

    init(_ element: MarkupElement) {
        self.element = element
        rest = element.attributes
    }

    mutating func text(_ name: String) -> String? { rest.removeValue(forKey: name) }

    /// Puts an attribute back into ``rest``, because its spelling must be preserved.
    mutating func keep(_ name: String, _ text: String) { rest[name] = text }

    /// Reads `YES` or `NO`. Returns the default if the attribute is absent; any other value is reported.
    mutating func flag(_ name: String, default value: Bool = false) -> Bool { optionalFlag(name) ?? value }

    mutating func optionalFlag(_ name: String) -> Bool? {
        guard let text = rest.removeValue(forKey: name) else { return nil }
        switch text.lowercased() {
        case "yes", "true", "1": return true
        case "no", "false", "0": return false
        default:
            report("\(name) is '\(text)', which is neither YES nor NO", at: name)
            return nil
        }
    }

    mutating func integer(_ name: String) -> Int? {
        guard let text = rest.removeValue(forKey: name) else { return nil }
        if let number = Int(text) { return number }
        report("\(name) is '\(text)', which is not a whole number", at: name)
        return nil
    }

    /// Returns the value's meaning from `choices`; other values are reported.
    mutating func choice<Choice>(_ name: String, _ choices: [(String, Choice)]) -> Choice? {
        guard let text = rest.removeValue(forKey: name) else { return nil }
        if let found = choices.first(where: { $0.0 == text }) { return found.1 }
        report(
            "\(name) is '\(text)', which is not known", at: name,
            hint: "use one of: " + choices.map(\.0).joined(separator: ", "))
        return nil
    }

    mutating func report(
        _ message: String, at attribute: String, hint: String? = nil, severity: Diagnostic.Severity = .error,
        rule: LintRule? = nil
    ) {
        problems.append(
            Diagnostic(severity, message, at: element.location(of: attribute), hint: hint, rule: rule?.rawValue))
    }
}
