import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// Predicates, expressions and sort descriptors between Foundation's classes and the text that model files have.
enum PredicateText {
    /// The predicate's text; `nil` for one with code in it.
    static func text(of predicate: NSPredicate) -> String? { text(of: predicate.node) }

    static func text(of node: PredicateNode) -> String? { node.containsBlocks ? nil : node.predicateFormat }

    /// Returns the mistake in a text, as the parser reported it.
    static func diagnostic(of error: any Error) -> Diagnostic? { (error as? PredicateFailure)?.diagnostic }

    /// The sort as a model file has it; `nil` for one by code or without a key.
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
        guard let selector = sort.selector else { return NSSortDescriptor(key: sort.key, ascending: sort.isAscending) }
        return NSSortDescriptor(key: sort.key, ascending: sort.isAscending, selector: Selector(selector))
    }
}
