import CoreDataModel
import Foundation

extension NSManagedObjectModel {
    /// Makes a model that is declared in Swift, for programs without Xcode.
    ///
    ///     let model = try NSManagedObjectModel {
    ///         ModelEntity("Author", class: Author.self) {
    ///             ModelAttribute("name", .string).required()
    ///             ModelRelationship("books", to: "Book", inverse: "author", .toMany(), deleteRule: .cascade)
    ///             ModelConstraint("name")
    ///         }
    ///         ModelEntity("Book", class: Book.self) {
    ///             ModelAttribute("title", .string, default: "").required().length(1...200)
    ///             ModelAttribute("year", .integer16)
    ///             ModelRelationship("author", to: "Author", inverse: "books")
    ///             ModelIndex("byYear", on: .descending("year"), "title")
    ///         }
    ///     }
    ///     // CREATE TABLE ZAUTHOR ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )
    ///     // CREATE TABLE ZBOOK ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZYEAR INTEGER,
    ///     //                      ZAUTHOR INTEGER, ZTITLE VARCHAR )
    ///     // CREATE INDEX ZBOOK_ZAUTHOR_INDEX ON ZBOOK (ZAUTHOR)
    ///     // CREATE INDEX Z_Book_byYear ON ZBOOK (ZYEAR COLLATE BINARY DESC, ZTITLE COLLATE BINARY ASC)
    ///     // CREATE UNIQUE INDEX Z_Author_UNIQUE_name ON ZAUTHOR (ZNAME COLLATE BINARY ASC)
    ///
    /// The model is the same as one read from a file: it has the same version hashes, and opens the same stores.
    ///
    /// - Parameters:
    ///   - versionIdentifiers: your own marks of the version; they do not decide compatibility.
    ///   - indexesAreCompiled: whether an attribute that alone makes up an ascending index gets a second index of its
    ///     own name in a store, as it has when Xcode compiles the model; for models converted from Xcode's.
    ///   - parts: the model's entities, composites, configurations and fetch requests.
    /// - Throws: a `CocoaError` with code 134060 that lists every mistake, a destination that does not exist, two
    ///   properties of one name, with entity, property and line of the declaration.
    ///
    /// Apple's framework has nothing like it: there, models are files or made of descriptions one by one.
    public convenience init(
        versionIdentifiers: [String] = [], indexesAreCompiled: Bool = false,
        @ModelBuilder _ parts: () throws -> [ModelPart]
    ) throws {
        var document = ModelDocument()
        document.versionIdentifiers = versionIdentifiers
        document.appliesIndexDecodingQuirk = indexesAreCompiled
        for part in try parts() { part.add(&document) }
        try self.init(document: document)
    }
}

/// Something that stands in the declaration of a model: an entity, a composite, a configuration, a fetch request.
public struct ModelPart: Sendable {
    let add: @Sendable (inout ModelDocument) -> Void
}

/// Builds the parts of a model; `if`, `switch` and `for` may be among them.
@resultBuilder
public enum ModelBuilder {
    public static func buildExpression(_ entity: ModelEntity) -> [ModelPart] {
        [ModelPart { $0.entities.append(entity.element) }]
    }

    public static func buildExpression(_ composite: ModelComposite) -> [ModelPart] {
        [ModelPart { $0.composites.append(composite.element) }]
    }

    public static func buildExpression(_ configuration: ModelConfiguration) -> [ModelPart] {
        [ModelPart { $0.configurations.append(configuration.element) }]
    }

    public static func buildExpression(_ request: ModelFetchRequest) -> [ModelPart] {
        [ModelPart { $0.fetchRequests.append(request.element) }]
    }

    /// Parts that were declared elsewhere, with a builder of their own.
    public static func buildExpression(_ parts: [ModelPart]) -> [ModelPart] { parts }

    public static func buildBlock(_ parts: [ModelPart]...) -> [ModelPart] { parts.flatMap { $0 } }
    public static func buildOptional(_ parts: [ModelPart]?) -> [ModelPart] { parts ?? [] }
    public static func buildEither(first parts: [ModelPart]) -> [ModelPart] { parts }
    public static func buildEither(second parts: [ModelPart]) -> [ModelPart] { parts }
    public static func buildArray(_ parts: [[ModelPart]]) -> [ModelPart] { parts.flatMap { $0 } }
}
