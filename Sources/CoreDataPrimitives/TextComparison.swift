import Foundation

/// How two texts compare, in memory and in SQL alike: the predicate evaluator and the SQL functions of every
/// driver call these and nothing else, so that a predicate selects the same rows everywhere.
package enum TextComparison {}
