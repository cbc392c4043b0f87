import CoreDataModel
import CoreDataModelTools
import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataCLI
@testable import CoreDataToolkit

@Suite struct ModelJSONTests {
    private func read(_ text: String) throws -> ModelVersions {
        try ModelJSONReader.read(FileBytes(text, name: "model.json"))
    }

    private func compiled(_ document: ModelDocument) throws -> ModelDocument {
        try ModelArchive.document(fromArchive: ModelArchive.archive(document))
    }

    @Test func ourOwnModelSurvives() throws {
        let scratch = try Scratch()
        let versions = try ModelFile.versions(at: LibrarySource.write(to: scratch))
        let again = try read(ModelJSONWriter.text(of: versions))
        #expect(again.name == "Library" && again.currentName == "Library 2" && again.namesCurrentVersion)
        for version in versions.versions {
            let document = try #require(again[version.name])
            // The source that is written of it is the same to the byte.
            #expect(try ContentsWriter.text(of: document) == ContentsWriter.text(of: version.document))
        }
    }

    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"), arguments: Fixtures.models)
    func everyModelSurvives(path: String) throws {
        let versions = try ModelFile.versions(at: Fixtures.url(path).path)
        let text = try ModelJSONWriter.text(of: versions)
        let again = try read(text)
        #expect(again.versions.map(\.name) == versions.versions.map(\.name))
        #expect(again.currentName == versions.currentName)
        #expect(try ModelJSONWriter.text(of: again) == text)
        for version in versions.versions {
            let document = try #require(again[version.name])
            if path.hasSuffix("momd") {
                #expect(try compiled(document) == compiled(version.document))
            } else {
                #expect(try ContentsWriter.text(of: document) == ContentsWriter.text(of: version.document))
            }
        }
    }

    @Test func valuesWithoutATextFormSurvive() throws {
        var document = ModelDocument()
        var entity = EntityElement(name: "Book")
        entity.knownVersionHash = Data([1, 2, 3])
        let defaults: [(String, AttributeType, Value)] = [
            ("cover", .binaryData, .data(Data([0, 1]))), ("a", .transformable, .integer(5)),
            ("b", .transformable, .double(0.5)), ("c", .transformable, .string("x")),
            ("d", .transformable, .date(1)), ("e", .transformable, .uuid(UUID())),
            ("f", .transformable, .uri("x:y")), ("g", .transformable, .decimal(Decimal(12))),
        ]
        for (name, type, value) in defaults {
            var attribute = AttributeElement(type: type)
            attribute.defaultValue = value
            attribute.validations = [ValidationElement(predicate: "SELF != nil", warning: "say something")]
            entity.properties.append(PropertyElement(name: name, kind: .attribute(attribute)))
        }
        var request = FetchRequestElement(name: "all")
        request.sorts = [.init(key: "a", isAscending: false, selector: "compare:")]
        request.fetchOffset = 3
        document.entities = [entity]
        document.fetchRequests = [request]
        document.versionIdentifiers = ["1", "2"]
        let versions = ModelVersions(name: "M", versions: [.init(name: "M", document: document)], currentName: "M")
        let text = try ModelJSONWriter.text(of: versions)
        let again = try #require(read(text).current)
        #expect(again.entities[0].properties.map(\.kind) == entity.properties.map(\.kind))
        #expect(again.entities[0].knownVersionHash == entity.knownVersionHash)
        #expect(again.fetchRequests[0].sorts == request.sorts && again.fetchRequests[0].fetchOffset == 3)
        #expect(again.versionIdentifiers == ["1", "2"])
    }

    @Test(arguments: [
        ("{}", "1:1: error: the model has no \"format\""),
        ("{\"format\": 2, \"name\": \"M\"}", "1:1: error: the file has format 2"),
        ("{\"format\": 1,\n \"versions\": []}", "1:1: error: the model has no \"name\""),
        ("{\"format\": 1, \"name\": \"M\", \"versions\": [\n{}]}", "2:1: error: a version has no \"name\""),
        ("{\"format\": 1, \"name\": \"M\", \"verions\": []}", "1:39: error: the model has an unknown \"verions\""),
        (
            "{\"format\": 1, \"name\": \"M\", \"current\": \"N\", \"versions\": [{\"name\": \"M\"}]}",
            "1:1: error: the model's current version is 'N'; did you mean 'M'?"
        ),
    ])
    func mistakesAreToldWithTheirPlace(text: String, message: String) throws {
        let failure = try #require(throws: ModelFailure.self) { try read(text) }
        #expect("\(failure)".contains("model.json:" + message), "\(failure)")
    }

    @Test(arguments: [
        ("{\"name\": \"A\", \"class\": 1}", "3:24: error: \"class\" of entity 'A' must be a text in quotes"),
        (
            "{\"name\": \"A\", \"isAbstract\": \"no\"}",
            "3:29: error: \"isAbstract\" of entity 'A' must be true or false"
        ),
        ("{\"name\": \"A\", \"attributes\": {}}", "3:29: error: \"attributes\" of entity 'A' must be a list, […]"),
        (
            "{\"name\": \"A\", \"attributes\": [\n{\"name\": \"x\", \"type\": \"Strng\"}]}",
            "4:1: error: attribute 'A.x' has the unknown type 'Strng'; did you mean 'String'?"
        ),
        (
            "{\"name\": \"A\", \"attributes\": [\n{\"name\": \"x\", \"type\": \"Date\", \"minimum\": \"soon\"}]}",
            "4:1: error: attribute 'A.x' has a bound or pattern that its type cannot have"
        ),
        (
            "{\"name\": \"A\", \"relationships\": [\n{\"name\": \"x\", \"deleteRule\": \"Destroy\"}]}",
            "4:1: error: relationship 'A.x' has the unknown delete rule 'Destroy'"
        ),
        ("{\"name\": \"A\", \"name\": \"B\"}", "3:23: error: entity 'A' has \"name\" twice"),
    ])
    func mistakesInEntitiesAreToldWithTheirPlace(entity: String, message: String) throws {
        let text = "{\"format\": 1, \"name\": \"M\", \"versions\": [{\"name\": \"M\",\n\"entities\": [\n\(entity)]}]}"
        let failure = try #require(throws: ModelFailure.self) { try read(text) }
        #expect("\(failure)".contains("model.json:" + message), "\(failure)")
    }

    @Test func mistakesOfTheModelPointIntoTheFile() throws {
        let text = """
            {"format": 1, "name": "M", "versions": [{"name": "M", "entities": [
              {"name": "A", "parent": "Nobody"}
            ]}]}
            """
        let document = try #require(read(text).current)
        let failure = try #require(throws: ModelFailure.self) { try ModelCompiler.compile(document) }
        #expect("\(failure)".hasPrefix("model.json:2:3: error: "))
        #expect("\(failure)".contains("{\"name\": \"A\", \"parent\": \"Nobody\"}"))
    }
}
