import CoreData
import Foundation

/// The versions of the model "Library".
enum LibraryModel {
    /// The name of the version that applications use.
    static let currentVersion = "Library 2"

    /// What makes each version, by its name.
    static let versions: [String: @Sendable () throws -> NSManagedObjectModel] = [
        "Library": library,
        "Library 2": library2,
    ]

    /// Version "Library".
    @Sendable static func library() throws -> NSManagedObjectModel {
        try NSManagedObjectModel(versionIdentifiers: ["1"], indexesAreCompiled: true) {
            ModelEntity("Book", className: "Book") {
                ModelAttribute("title", .string)
            }
        }
    }

    /// Version "Library 2".
    @Sendable static func library2() throws -> NSManagedObjectModel {
        try NSManagedObjectModel(versionIdentifiers: ["2"], indexesAreCompiled: true) {
            ModelEntity("Author", className: "Author") {
                ModelAttribute("booksCount", .integer64, derivedFrom: "books.@count")
                ModelAttribute("code", .string, default: "\"A\\B\"")
                    .required()
                    .minimumLength(2)
                    .maximumLength(9)
                    .matching("\\w+")
                ModelAttribute("home", .composite("Place"))
                ModelRelationship(
                    "books",
                    to: "Book",
                    inverse: "author",
                    .toMany(ordered: true, minimum: 1, maximum: 9),
                    deleteRule: .cascade)
                ModelFetchedProperty("longBooks", .init(entity: "Book", predicate: "pages > 500", limit: 3))
                ModelConstraint("code")
            }
            .renamed(from: "Writer")
            .versionHashModifier("a")
            .userInfo(["a": "line 1\nline 2", "b": "é"])
            ModelEntity("Book", className: ".Book", isAbstract: true) {
                ModelAttribute("cover", .binaryData).storedExternally()
                ModelAttribute("date", .date, defaultText: "631152000.5")
                    .required()
                    .validated(by: "timeIntervalSinceReferenceDate >= -86400", warning: "1640")
                ModelAttribute("id", .uuid, defaultText: "6B29FC40-CA47-1067-B31D-00DD010662DA")
                    .preservedAfterDeletion()
                    .required()
                ModelAttribute("isLent", .boolean, default: true).required()
                ModelAttribute("page", .uri, defaultText: "https://example.org/?a=1&b").valueTransformer("Link")
                ModelAttribute("pages", .integer16, default: 0)
                    .required()
                    .minimum(1)
                    .maximum(9999)
                    .renamed(from: "sheets")
                    .versionHashModifier("p")
                ModelAttribute("price", .decimal, defaultText: "0.10")
                    .required()
                    .validated(by: "SELF >= 0.5", warning: "1620")
                ModelAttribute("rating", .float, default: 0.1)
                    .required()
                    .indexedBySpotlight()
                    .storedInExternalRecord()
                    .maximum(5)
                ModelAttribute("scratch", .transformable(by: "Secure", valueClass: "[String]")).transient()
                ModelAttribute("title", .string, default: "").encryptedInCloud().required().userInfo(["k": "v"])
                ModelAttribute("weight", .double, default: 1e+20).required()
                ModelRelationship("author", to: "Author", inverse: "books", .toOne(minimum: 1), deleteRule: .deny)
                    .required()
                ModelIndex("byBoth", on: .descending("pages"), "title", where: "pages > 10")
                ModelIndex("byTitle", on: "title")
            }
            ModelEntity("Novel", className: "Novel", parent: "Book") {
                ModelAttribute("genre", .string).indexed()
                ModelRelationship("sequel", to: "Novel", inverse: "sequel", deleteRule: .noAction)
            }
            .spotlightDisplayName("title")
            .compoundIndex("genre", "title")
            ModelComposite("Place") {
                ModelAttribute("x", .double, default: 0.5).required()
                ModelAttribute("y", .double)
            }
            ModelFetchRequest(
                "byAuthor",
                entity: "Book",
                predicate: "author.code == $CODE",
                batchSize: 20,
                resultType: .managedObjectIDResultType,
                options: [.withoutSubentities, .withoutFaults, .distinctResults])
            ModelConfiguration("Catalogue", entities: "Author", "Book", "Novel")
        }
    }
}
