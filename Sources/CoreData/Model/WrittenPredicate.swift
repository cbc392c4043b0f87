import CoreDataPredicate
import Foundation

/// A predicate together with the text that a model file has for it, so that the text goes back as it came.
struct WrittenPredicate {
    let predicate: NSPredicate
    /// The predicate as a tree; `nil` for one that is only code.
    let node: PredicateNode?
    private let givenText: String?

    init(_ predicate: NSPredicate) {
        self.predicate = predicate
        node = PredicateText.node(of: predicate)
        givenText = nil
    }

    init(text: String) throws {
        let node = try PredicateParser.parse(format: text)
        self.node = node
        predicate = PredicateText.predicate(node)
        givenText = text
    }

    /// The text as it was written, else as it prints; `nil` for a predicate with code in it.
    var text: String? { givenText ?? node.flatMap(PredicateText.text) }

    func isEqual(to other: WrittenPredicate) -> Bool {
        if let text, text == other.text { return true }
        if let node, let otherNode = other.node { return node == otherNode }
        return predicate.isEqual(other.predicate)
    }
}

/// An expression together with the text that a model file has for it. A derived attribute's version hash is made of
/// that text, so it must not change its spelling.
struct WrittenExpression {
    let expression: NSExpression?
    let node: ExpressionNode?
    private let givenText: String?

    init(_ expression: NSExpression) {
        self.expression = expression
        node = PredicateText.node(of: expression)
        givenText = nil
    }

    init(text: String) throws {
        let node = try PredicateParser.parseExpression(format: text)
        self.node = node
        expression = PredicateText.expression(node)
        givenText = text
    }

    /// The text as it was written, else as it prints; `nil` for an expression with code in it.
    var text: String? { givenText ?? node?.predicateFormat }

    func isEqual(to other: WrittenExpression) -> Bool {
        if let text, text == other.text { return true }
        if let node, let otherNode = other.node { return node == otherNode }
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
