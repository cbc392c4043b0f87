// In place of the predicate classes until they are here; remove this file with them.
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation

extension NSPredicate {
    package var node: PredicateNode { .constant(true) }
    func withSubstitutionVariables2(_ v: [String: Any]) -> NSPredicate { self }
}

extension Foundation.NSExpression { package var node: ExpressionNode { .evaluatedObject } }

enum OperandBridging {
    static func any(from: Operand) -> Any? { nil }
    static func operand(from: Any?) -> Operand { .null }
}

struct SortTerm {
    var key: String
    var isAscending: Bool
    var comparison: FetchPlan.Sort.Comparison
    init?(_ d: NSSortDescriptor) { nil }
}
