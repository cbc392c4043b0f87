import CoreData
import Foundation

/// What prints itself in the predicate language. Foundation of Linux calls
/// its own `predicateFormat` deprecated, although nothing else prints a
/// predicate, so the tests ask for it under this name.
private protocol HasFormat {
    var predicateFormat: String { get }
}

extension NSPredicate: HasFormat {}

extension NSPredicate {
    /// The predicate in the predicate language, as `predicateFormat` says.
    var format: String { (self as any HasFormat).predicateFormat }
}
