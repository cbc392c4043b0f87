import CoreDataModel
import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataCodeGeneration

/// Whether what is generated of real models compiles, without a warning.
@Suite(
    .enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)),
    .enabled(if: TypeChecker.isAvailable, "no swiftc, or module CoreData has not been built"))
struct FixtureTypeCheckTests {
    /// Every model of the fixtures, current versions only: the others differ in little.
    private static let models: [String] = {
        guard let folder = Fixtures.folder, let files = FileManager.default.enumerator(atPath: folder.path) else {
            return []
        }
        let paths = files.compactMap { $0 as? String }
        return paths.filter { path in
            path.hasSuffix(".xcdatamodeld") || (path.hasSuffix(".xcdatamodel") && !path.contains(".xcdatamodeld/"))
        }.sorted()
    }()

    @Test(arguments: Trials.some(of: models))
    func generatedClassesCompile(model: String) throws {
        let document = try #require(try ModelReader.read(contentsOf: Fixtures.url(model)).current)
        let options = GenerationOptions(includesManual: true)
        let generation = try ClassGeneration(document, modelName: model, options: options)
        #expect(!generation.entityNames.isEmpty)
        let problems = try TypeChecker.problems(
            in: generation.files + [Self.authorsClasses(of: document, generated: generation.files)])
        #expect(problems == "")
    }

    @Test func classesForHumansCompile() throws {
        let document = try #require(try ModelReader.read(contentsOf: Fixtures.url(Self.models[0])).current)
        let options = GenerationOptions(.humanMachine, access: .internal)
        let generation = try ClassGeneration(document, modelName: "Model", options: options)
        #expect(try TypeChecker.problems(in: generation.files) == "")
    }

    /// What the application that the model is from has beside the generated classes.
    private static func authorsClasses(of document: ModelDocument, generated: [GeneratedFile]) -> GeneratedFile {
        var names: Set<String> = []
        for entity in document.entities {
            if entity.codeGenerationType == "category", let name = SwiftNames.className(entity.className) {
                names.insert(name)
            }
            for case .attribute(let attribute) in entity.properties.map(\.kind) {
                guard let name = SwiftNames.customType(attribute.customClassName), !name.hasPrefix("NS") else {
                    continue
                }
                names.insert(name)
            }
        }
        let classes = names.sorted().map { "public class \($0): NSManagedObject {}" }
        return GeneratedFile(name: "Authors.swift", text: (["import CoreData"] + classes).joined(separator: "\n"))
    }
}

extension TypeChecker {
    /// What the compiler has to say about the files.
    fileprivate static func problems(in files: [GeneratedFile]) throws -> String {
        try problems(in: files.map { ($0.name, $0.text) })
    }
}
