import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// Predicates, expressions and sort descriptors as model files write them: as text.
enum PredicateText {
    /// The predicate's text; `nil` for one with code in it.
    static func text(of predicate: NSPredicate) -> String? { node(of: predicate).flatMap(text) }

    static func text(of node: PredicateNode) -> String? { node.containsBlocks ? nil : node.predicateFormat }

    static func text(of expression: NSExpression) -> String? { node(of: expression)?.predicateFormat }

    /// What was wrong with a text, as the parser told it.
    static func diagnostic(of error: any Error) -> Diagnostic? { (error as? PredicateFailure)?.diagnostic }

    // MARK: - Between trees and Foundation's classes

    static func predicate(_ node: PredicateNode) -> NSPredicate { .make(node: node) }

    /// The predicate's tree; `nil` for one that is only code.
    static func node(of predicate: NSPredicate) -> PredicateNode? {
        if case .block = predicate.node { return nil }
        return predicate.node
    }

    static func expression(_ node: ExpressionNode) -> NSExpression? { .make(node: node) }

    /// The expression's tree; `nil` for one that is only code.
    static func node(of expression: NSExpression) -> ExpressionNode? {
        if case .block = expression.node { return nil }
        return expression.node
    }

    static func substituting(_ variables: [String: Any], in predicate: NSPredicate) -> NSPredicate {
        predicate.withSubstitutionVariables(variables)
    }

    /// The descriptor as a document has it; `nil` for one with code or without a key.
    static func sort(_ descriptor: NSSortDescriptor) -> FetchRequestElement.Sort? {
        guard let ordering = descriptor.ordering, let key = ordering.key else { return nil }
        let selector: String?
        switch ordering.comparison {
        case .order(.literal): selector = nil
        case .order(let order): selector = order.rawValue
        case .selector(let name): selector = name
        case .code: return nil
        }
        return FetchRequestElement.Sort(key: key, isAscending: ordering.ascending, selector: selector)
    }

    static func sortDescriptor(_ sort: FetchRequestElement.Sort) -> NSSortDescriptor {
        NSSortDescriptor(key: sort.key, ascending: sort.isAscending, selector: sort.selector.map { Selector($0) })
    }
}
