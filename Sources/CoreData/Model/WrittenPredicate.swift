import Foundation

/// A predicate together with the text that a model file has for it, so that the text goes back as it came.
struct WrittenPredicate {
    let predicate: NSPredicate
    private let givenText: String?

    init(_ predicate: NSPredicate) {
        self.predicate = predicate
        givenText = nil
    }

    init(text: String) throws {
        predicate = try PredicateText.predicate(text)
        givenText = text
    }

    /// The text as it was written, else as it prints; `nil` for a predicate with code in it.
    var text: String? { givenText ?? PredicateText.text(of: predicate) }

    func isEqual(to other: WrittenPredicate) -> Bool {
        if let text, text == other.text { return true }
        return ContentEquality.areEqual(predicate, other.predicate)
    }
}

/// An expression together with the text that a model file has for it. A derived attribute's version hash is made of
/// that text, so it must not change its spelling.
struct WrittenExpression {
    let expression: NSExpression?
    private let givenText: String?

    init(_ expression: NSExpression) {
        self.expression = expression
        givenText = nil
    }

    init(text: String) throws {
        expression = try PredicateText.expression(text)
        givenText = text
    }

    /// The text as it was written, else as it prints; `nil` for an expression with code in it.
    var text: String? { givenText ?? expression.flatMap { PredicateText.text(of: $0) } }

    func isEqual(to other: WrittenExpression) -> Bool {
        if let text, text == other.text { return true }
        return ContentEquality.areEqual(expression, other.expression)
    }
}

extension Optional where Wrapped == WrittenPredicate {
    func isEqual(to other: WrittenPredicate?) -> Bool {
        guard let self, let other else { return self == nil && other == nil }
        return self.isEqual(to: other)
    }
}

extension Optional where Wrapped == WrittenExpression {
    func isEqual(to other: WrittenExpression?) -> Bool {
        guard let self, let other else { return self == nil && other == nil }
        return self.isEqual(to: other)
    }
}
