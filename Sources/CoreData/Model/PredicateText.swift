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

    static func predicate(_ node: PredicateNode) -> NSPredicate { NSPredicate(value: true) }

    static func node(of predicate: NSPredicate) -> PredicateNode? { nil }

    static func expression(_ node: ExpressionNode) -> NSExpression? { nil }

    static func node(of expression: NSExpression) -> ExpressionNode? { nil }

    static func substituting(_ variables: [String: Any], in predicate: NSPredicate) -> NSPredicate { predicate }

    static func sort(_ descriptor: NSSortDescriptor) -> FetchRequestElement.Sort? { nil }

    static func sortDescriptor(_ sort: FetchRequestElement.Sort) -> NSSortDescriptor {
        NSSortDescriptor(keyPath: \NSObject.hash, ascending: sort.isAscending)
    }
}
