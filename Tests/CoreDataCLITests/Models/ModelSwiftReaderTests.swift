import CoreDataModel
import Foundation
import TestSupport
import Testing

@testable import CoreDataCLI

@Suite struct ModelSwiftReaderTests {
    private func read(_ text: String) throws -> ModelVersions {
        let scratch = try Scratch()
        return try ModelSwiftReader.read(path: scratch.write(text, to: "Model.swift"))
    }

    @Test func ourOwnModelSurvives() throws {
        let scratch = try Scratch()
        let versions = try ModelFile.versions(at: LibrarySource.write(to: scratch))
        let text = try ModelSwiftWriter.text(of: versions)
        let again = try read(text)
        #expect(again.name == "Library" && again.currentName == "Library 2")
        #expect(try ModelSwiftWriter.text(of: again) == text)
        for version in versions.versions {
            let document = try #require(again[version.name])
            #expect(try compiled(document) == compiled(version.document))
        }
    }

    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"), arguments: Fixtures.models)
    func everyModelSurvives(path: String) throws {
        let versions = try ModelFile.versions(at: Fixtures.url(path).path)
        let again = try read(ModelSwiftWriter.text(of: versions))
        #expect(again.versions.map(\.name) == versions.versions.map(\.name))
        #expect(again.currentName == versions.currentName)
        for version in versions.versions {
            #expect(try compiled(#require(again[version.name])) == compiled(version.document), "\(version.name)")
        }
    }

    /// What a compiled model holds.
    private func compiled(_ document: ModelDocument) throws -> ModelDocument {
        try ModelArchive.document(fromArchive: ModelArchive.archive(document))
    }

    @Test func aModelWrittenByHandIsRead() throws {
        let versions = try read(
            """
            import CoreData

            /* a library */
            public func makeModel() throws -> NSManagedObjectModel {
                return try NSManagedObjectModel {
                    ModelEntity("Book") {
                        ModelAttribute("rating", .integer16, default: -1).range(-1...5)   // stars
                        ModelAttribute("title", .string).length(1...1_000).required()
                    }
                }
            }
            """)
        #expect(versions.name == "makeModel")
        let book = try #require(versions.current?.entities.first)
        #expect(
            book.properties.map(\.validations).map { $0.map(\.predicate) } == [
                ["SELF >= -1", "SELF <= 5"], ["length >= 1", "length <= 1000"],
            ])
        #expect(book.properties.map(\.isOptional) == [true, false])
    }

    @Test(arguments: [
        ("ModelAttribute(name, .string)", "4:20: error: a text in quotes should be here; only literals are read"),
        ("if isLarge { }", "4:5: error: 'if' is not read here; only literals and calls of the declaration are"),
        ("ModelAttribute(\"a\", .string, default: \"\\(b)\")", "a value in a text is no literal"),
        (
            "ModelAttribute(\"a\", .strng)",
            "4:25: error: attribute 'A.a' has the unknown kind '.strng'; did you mean 'string'?"
        ),
        (
            "ModelAttribute(\"a\", .integer16, default: 70000)",
            "has the default '70000', which is not a value of its kind"
        ),
        ("ModelAttribute(\"a\", .string).requird()", "4:33: error: 'a' has no modifier 'requird'"),
        ("ModelAttribute(\"a\", .string, size: 3)", "ModelAttribute has an argument 'size' that is not read here"),
        ("ModelRelationship(\"a\")", "4:5: error: ModelRelationship has no 'to'"),
        ("ModelRelationship(\"a\", to: \"B\", deleteRule: .destroy)", "there is no delete rule '.destroy'"),
        ("Attribute(\"a\")", "4:5: error: 'Attribute' is no part of an entity that is read here"),
        ("ModelAttribute(\"a", "4:20: error: a text that starts here has no end"),
    ])
    func mistakesAreToldWithTheirPlace(line: String, message: String) throws {
        let text = """
            enum M {
            static func m() throws -> NSManagedObjectModel { try NSManagedObjectModel {
            ModelEntity("A") {
                \(line)
            } } } }
            """
        let failure = try #require(throws: ModelFailure.self) { try read(text) }
        #expect("\(failure)".contains(message) && "\(failure)".contains("Model.swift:4:"), "\(failure)")
    }

    @Test func otherSwiftIsNotRead() throws {
        let failure = try #require(throws: ModelFailure.self) { try read("class Book {}\n") }
        #expect("\(failure)".contains("only what 'coredata model convert --to swift' writes is read"))
        #expect(throws: ModelFailure.self) { try read("import CoreData\n") }
    }

    @Test func whatSwiftAllowsIsRead() throws {
        let versions = try read(
            ##"""
            public struct Shop {
                /* of /* all */ versions */
                public static let currentVersion = #"Shop 2"#
                static let versions = ["Shop": first, "Shop 2": `default`]
                static func first() throws -> NSManagedObjectModel { try NSManagedObjectModel { ModelEntity("Item") {} } }
                static func `default`() throws -> NSManagedObjectModel {
                    return try! NSManagedObjectModel(versionIdentifiers: ["""
                        2
                        """], indexesAreCompiled: true) {}
                }
            }
            """##)
        #expect(versions.name == "Shop" && versions.currentName == "Shop 2")
        #expect(versions.versions.map { $0.document.entities.map(\.name) } == [["Item"], []])
        #expect(versions.current?.versionIdentifiers == ["2"])
    }

    @Test func everyMistakeIsTold() throws {
        let text = """
            enum M {
                static let versions = ["M": m, "M 2": gone]
                static func m() throws -> NSManagedObjectModel { try NSManagedObjectModel {
                    ModelEntity("A") { ModelAttribute("a", .strng) }
                    ModelEntity("B", isAbstract: "yes")
                } }
            }
            """
        let failure = try #require(throws: ModelFailure.self) { try read(text) }
        #expect(
            failure.diagnostics.map { "\($0.location?.line ?? 0):\($0.location?.column ?? 0)" } == [
                "4:48", "5:38", "2:43",
            ])
        #expect(failure.diagnostics.last?.message == "there is no function 'gone'")
        #expect(failure.diagnostics.first?.sourceLine?.contains("ModelEntity(\"A\")") == true)
    }
}
