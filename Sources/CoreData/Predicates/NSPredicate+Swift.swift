import CoreDataPredicate
import CoreDataPrimitives
import Foundation

extension PredicateMaking where Self: NSPredicate {
    /// Makes a predicate that a store can follow from one of Swift's; `nil`, and a line in the log, for what the predicate
    /// language cannot say: regular expressions, casts with `as?`, a text's `count`.
    ///
    ///     request.predicate = NSPredicate(#Predicate<Book> { $0.pages > 300 && $0.author?.name == name })
    ///     // pages > 300 AND author.name == "Jane"
    ///     NSPredicate(#Predicate<Author> { author in author.books.contains { $0.pages > 300 } })
    ///     // SUBQUERY(books, $v0, $v0.pages > 300).@count > 0
    ///
    /// The key paths are those of modelled properties. Texts are compared as Swift compares them but for `contains` and
    /// `starts(with:)`, which are CONTAINS and BEGINSWITH.
    public init?<Input: NSObject>(_ predicate: Predicate<Input>) {
        let conversion = SwiftPredicateConversion(
            name: { KeyPathNames.name(for: $0) }, constant: { OperandBridging.constant($0) })
        do {
            self.init(predicateNode: try conversion.node(predicate))
        } catch {
            PredicateReporting.report(
                PredicateFailure(.unsupported, Diagnostic(.error, "#Predicate<\(Input.self)>: \(error.reason)")))
            return nil
        }
    }
}
