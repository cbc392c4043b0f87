import CoreDataPredicate
import Foundation

/// A predicate with its text in a model file, so that the text is written back unchanged.
struct WrittenPredicate {
    let predicate: NSPredicate
    let node: PredicateNode
    private let givenText: String?

    init(_ predicate: NSPredicate) {
        self.predicate = predicate
        node = predicate.node
        givenText = nil
    }

    init(text: String) throws {
        let node = try PredicateParser.parse(format: text)
        self.node = node
        predicate = NSPredicate.make(node: node)
        givenText = text
    }

    /// The text as it was written, else as it is printed; `nil` for a predicate that contains code.
    var text: String? { givenText ?? PredicateText.text(of: node) }

    func isEqual(to other: WrittenPredicate) -> Bool {
        if let text, text == other.text { return true }
        return node == other.node
    }
}

/// An expression with its text in a model file. A derived attribute's version hash is computed from that text, so its
/// spelling must not change.
struct WrittenExpression {
    let expression: NSExpression
    let node: ExpressionNode
    private let givenText: String?

    init(_ expression: NSExpression) {
        self.expression = expression
        node = expression.node
        givenText = nil
    }

    init(text: String) throws {
        let node = try PredicateParser.parseExpression(format: text)
        self.node = node
        expression = NSExpression.make(node: node)
        givenText = text
    }

    /// The text as it was written, else as it is printed.
    var text: String { givenText ?? node.predicateFormat }

    func isEqual(to other: WrittenExpression) -> Bool {
        node == other.node
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
