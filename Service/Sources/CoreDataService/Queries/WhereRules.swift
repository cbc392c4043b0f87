import CoreData
import Foundation

/// The part of the predicate language that a client may use.
package enum WhereRules {
    /// The length of a predicate in bytes.
    package static let maximumLength = 4096
    /// The height of the tree.
    package static let maximumDepth = 16
    /// The number of comparisons, operators, keys and constants.
    package static let maximumNodes = 600
    /// The number of relationships to many objects that are searched.
    package static let maximumCollections = 6
    /// The number of `SUBQUERY`s within each other.
    package static let maximumSubqueries = 2
    /// The number of keys in a key path.
    package static let maximumKeys = 4
    /// The number of wildcards in a pattern: the time to compare grows with each.
    package static let maximumWildcards = 6

    package static let operators: [ComparisonNaming.Operator: String] = [
        .equalTo: "==", .notEqualTo: "!=", .lessThan: "<", .lessThanOrEqualTo: "<=", .greaterThan: ">",
        .greaterThanOrEqualTo: ">=", .in: "IN", .contains: "CONTAINS", .beginsWith: "BEGINSWITH", .endsWith: "ENDSWITH",
        .like: "LIKE", .between: "BETWEEN",
    ]

    /// The functions by Apple's selector names.
    package static let functions: Set<String> = [
        "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "modulus:by:", "abs:", "ceiling:", "floor:",
        "trunc:",
        "uppercase:", "lowercase:", "canonical:", "length:", "now",
    ]

    /// The functions as clients write them, for messages and documents.
    package static let functionWords =
        "+ - * /, modulus:by:, abs, ceiling, floor, trunc, uppercase, lowercase, canonical, length, now()"

    /// What may follow a relationship to many objects in a key path.
    package static let collectionOperators: Set<String> = ["@count", "@sum", "@min", "@max", "@avg"]
}
