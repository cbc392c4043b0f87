import CoreDataPredicate
import CoreDataPrimitives
import Foundation

extension PredicateMaking where Self: NSPredicate {
    /// Creates a predicate that stores support from one of Swift's. `nil`, and a line in the log, for features that the
    /// predicate language does not have: regular expressions, tests of a text's characters. ``init(validating:)``
    /// throws instead.
    ///
    ///     request.predicate = NSPredicate(#Predicate<Book> { $0.pages > 300 && $0.author?.name == name })
    ///     // pages > 300 AND author.name == "Jane"
    ///     NSPredicate(#Predicate<Author> { author in author.books.contains { $0.pages > 300 } })
    ///     // SUBQUERY(books, $v0, $v0.pages > 300).@count > 0
    ///
    /// The key paths are those of modelled properties. Texts are compared by their Unicode scalars, as stores do.
    public init?<Input: NSObject>(_ predicate: Predicate<Input>) {
        do {
            self.init(predicateNode: try SwiftPredicates.node(predicate))
        } catch {
            PredicateReporting.report(error)
            return nil
        }
    }

    /// Makes a predicate that a store can follow from one of Swift's.
    ///
    ///     request.predicate = try NSPredicate(validating: #Predicate<Book> { $0.title?.contains("x") == true })
    ///     // title CONTAINS "x"
    ///
    /// - Throws: an error that names the part which the predicate language cannot say.
    ///
    /// Not in Apple's API.
    public init<Input: NSObject>(validating predicate: Predicate<Input>) throws {
        do {
            self.init(predicateNode: try SwiftPredicates.node(predicate))
        } catch { throw CoreDataErrors.converted(error, store: nil, context: nil) }
    }
}

/// Swift's predicates as trees.
enum SwiftPredicates {
    static func node<Input: NSObject>(_ predicate: Predicate<Input>) throws(PredicateFailure) -> PredicateNode {
        let conversion = SwiftPredicateConversion(
            name: { name(of: $0) }, constant: { OperandBridging.constant($0) },
            entities: { entityNames(of: $0, $1) })
        do {
            return try conversion.node(predicate)
        } catch {
            throw PredicateFailure(
                .unsupported, Diagnostic(.error, "#Predicate<\(Input.self)>: \(error.reason)"))
        }
    }

    /// The key of a key path that is a column of a fetch.
    static func column<Object: NSManagedObject, Value>(_ keyPath: KeyPath<Object, Value>) throws -> String {
        if let name = name(of: keyPath) { return name }
        throw CoreDataErrors.invalidRequest(
            "\(keyPath) is no property of \(Object.self) that a store has: it cannot be a column of a fetch.")
    }

    /// The key of a property, or of the object's ID.
    private static func name(of keyPath: AnyKeyPath) -> String? {
        if type(of: keyPath).valueType is any TypedObjectID.Type { return "objectID" }
        return KeyPathNames.name(for: keyPath)
    }

    /// Returns the entities whose objects are of the class, in the loaded models.
    private static func entityNames(of type: Any.Type, _ isBelow: (Any.Type) -> Bool) -> [String]? {
        guard let type = type as? NSManagedObject.Type else { return nil }
        ManagedObjectClasses.shared.learn(type)
        return ManagedObjectClasses.shared.entityNames(where: isBelow)
    }
}
