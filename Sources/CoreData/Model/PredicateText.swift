import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Predicates, expressions and sort descriptors as model files write them: as text.
enum PredicateText {
    static func predicate(_ text: String) throws -> NSPredicate { NSPredicate(value: true) }

    /// The predicate's text; `nil` for one with code in it.
    static func text(of predicate: NSPredicate) -> String? { nil }

    static func expression(_ text: String) throws -> NSExpression? { nil }

    static func text(of expression: NSExpression) -> String? { nil }

    static func sort(_ descriptor: NSSortDescriptor) -> FetchRequestElement.Sort? { nil }

    static func sortDescriptor(_ sort: FetchRequestElement.Sort) -> NSSortDescriptor {
        NSSortDescriptor(keyPath: \NSObject.hash, ascending: sort.isAscending)
    }

    static func substituting(_ variables: [String: Any], in predicate: NSPredicate) -> NSPredicate { predicate }

    /// What was wrong with a text, as the parser told it.
    static func diagnostic(of error: any Error) -> Diagnostic? { nil }
}
