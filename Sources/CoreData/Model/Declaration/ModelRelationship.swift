import CoreDataModel
import CoreDataPrimitives
import Foundation

/// A relationship in a model declared in Swift.
///
///     ModelRelationship("books", to: "Book", inverse: "author", .toMany(ordered: true), deleteRule: .cascade)
///     // ZBOOK: ZAUTHOR INTEGER, Z_FOK_AUTHOR INTEGER
///     ModelRelationship("author", to: "Author", inverse: "books")
///     // ZBOOK: ZAUTHOR INTEGER; CREATE INDEX ZBOOK_ZAUTHOR_INDEX ON ZBOOK (ZAUTHOR)
///
/// Two to-many relationships that are each other's inverse have a table of their own.
public struct ModelRelationship: ModelProperty {
    /// The content of the declaration, in the form that all kinds of properties share.
    public var content: ModelPropertyContent

    /// How many objects a relationship has.
    public struct Cardinality: Sendable {
        let minimum: Int
        let maximum: Int
        let isOrdered: Bool

        /// One object at most.
        public static var toOne: Cardinality { toOne(minimum: 0) }

        /// At most one object, with a minimum that is checked if the relationship is required.
        public static func toOne(minimum: Int) -> Cardinality {
            Cardinality(minimum: minimum, maximum: 1, isOrdered: false)
        }

        /// Any number of objects, or so many; `maximum` 0 is no bound.
        public static func toMany(ordered: Bool = false, minimum: Int = 0, maximum: Int = 0) -> Cardinality {
            Cardinality(minimum: minimum, maximum: maximum, isOrdered: ordered)
        }
    }

    /// What becomes of the objects at the other end when an object is deleted.
    public enum DeleteRule: Sendable {
        /// They forget the object.
        case nullify
        /// They are deleted too.
        case cascade
        /// As long as there are some, the object cannot be deleted.
        case deny
        /// They stay unchanged; the program must update them.
        case noAction

        var compiled: CoreDataModel.DeleteRule {
            switch self {
            case .nullify: .nullify
            case .cascade: .cascade
            case .deny: .deny
            case .noAction: .noAction
            }
        }
    }

    /// - Parameters:
    ///   - name: the relationship's name, unique in its entity and the entity's ancestors.
    ///   - destination: the name of the destination entity.
    ///   - inverse: the name of the inverse relationship; every relationship should have one.
    ///   - cardinality: to-one by default.
    ///   - deleteRule: the effect on the destinations when the object is deleted.
    ///   - fileID: the file of the declaration, for messages; omit it.
    ///   - line: the line of the declaration; omit it.
    public init(
        _ name: String, to destination: String, inverse: String? = nil, _ cardinality: Cardinality = .toOne,
        deleteRule: DeleteRule = .nullify, fileID: String = #fileID, line: Int = #line
    ) {
        var relationship = RelationshipElement()
        relationship.destinationName = destination
        relationship.inverseName = inverse
        relationship.inverseEntityName = inverse.map { _ in destination }
        relationship.minCount = cardinality.minimum
        relationship.maxCount = cardinality.maximum
        relationship.isOrdered = cardinality.isOrdered
        relationship.deleteRule = deleteRule.compiled
        content = ModelPropertyContent(name, .relationship(relationship), fileID: fileID, line: line)
    }
}

/// A property whose value is the result of a fetch, in a model declared in Swift.
///
///     ModelFetchedProperty("longBooks", .init(entity: "Book", predicate: "author == $FETCH_SOURCE AND pages > 500"))
public struct ModelFetchedProperty: ModelProperty {
    /// The content of the declaration, in the form that all kinds of properties share.
    public var content: ModelPropertyContent

    /// A fetched property that runs the request.
    public init(_ name: String, _ request: ModelFetchRequest, fileID: String = #fileID, line: Int = #line) {
        var element = request.element
        element.name = "fetchedPropertyFetchRequest"
        content = ModelPropertyContent(name, .fetched(element), fileID: fileID, line: line)
    }
}
