import Foundation
import TestSupport
import Testing

@testable import CoreDataModel
@testable import CoreDataModelTools

/// Compiling and decompiling each other's results.
@Suite(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
struct DecompilingTests {
    @Test(arguments: Fixtures.models)
    func decompilingWhatWasCompiledGivesTheSource(path: String) throws {
        for version in try ModelReader.read(contentsOf: Fixtures.url(path)).versions {
            let source = version.document
            let compiled = try ModelArchive.document(fromArchive: ModelArchive.archive(source))
            let decompiled = compiled.decompiled()
            #expect(decompiled.compiledContent == source.compiledContent, "\(version.name)")
            // The file that is written of it says the same, and compiles to the same.
            let text = try ContentsWriter.text(of: decompiled)
            let read = ContentsReader.document(from: Data(text.utf8), file: nil)
            #expect(read.diagnostics.isEmpty)
            #expect(read.compiledContent == source.compiledContent, "\(version.name)")
            #expect(try hashes(read) == hashes(source))
        }
    }

    private func hashes(_ document: ModelDocument) throws -> [Data] {
        try ModelCompiler.compile(document).entities.map(\.versionHash)
    }
}

extension ModelDocument {
    /// What a compiled model holds of the document, in an order of its own.
    var compiledContent: ModelDocument {
        var result = ModelDocument()
        result.versionIdentifiers = versionIdentifiers
        result.entities = entities.map(\.compiledContent).sorted { $0.name < $1.name }
        result.fetchRequests = fetchRequests.map(\.compiledContent).sorted { $0.name < $1.name }
        result.configurations = configurations.map { configuration in
            var result = ConfigurationElement(name: configuration.name)
            result.entityNames = configuration.entityNames.sorted()
            return result
        }.sorted { $0.name < $1.name }
        result.composites = composites.map { composite in
            var result = CompositeElement(name: composite.name)
            result.properties = composite.properties.map(\.compiledContent)
            return result
        }.sorted { $0.name < $1.name }
        return result
    }
}

extension EntityElement {
    fileprivate var compiledContent: EntityElement {
        var result = self
        if className == "NSManagedObject" { result.className = nil }
        result.properties = properties.map { property in
            var content = property.compiledContent
            // A fetch index marks its attribute, in a compiled model.
            if impliesIndex(of: property) { content.isIndexed = false }
            return content
        }.sorted { $0.name < $1.name }
        for index in result.fetchIndexes.indices {
            result.fetchIndexes[index].location = nil
            for position in result.fetchIndexes[index].elements.indices {
                result.fetchIndexes[index].elements[position].expressionType = nil
            }
        }
        result.codeGenerationType = nil
        result.isSyncable = nil
        result.toolAttributes = [:]
        result.knownVersionHash = nil
        result.location = nil
        return result
    }
}

extension PropertyElement {
    fileprivate var compiledContent: PropertyElement {
        var result = self
        result.isSyncable = nil
        result.toolAttributes = [:]
        result.location = nil
        switch kind {
        case .attribute(var attribute):
            attribute.defaultValueText = nil
            attribute.usesScalarValueType = nil
            result.kind = .attribute(attribute)
        case .fetched(let request):
            var content = request.compiledContent
            content.name = ""
            result.kind = .fetched(content)
        case .relationship(var relationship):
            if relationship.inverseName != nil { relationship.inverseEntityName = relationship.destinationName }
            result.kind = .relationship(relationship)
        }
        return result
    }
}

extension FetchRequestElement {
    fileprivate var compiledContent: FetchRequestElement {
        var result = self
        result.location = nil
        return result
    }
}
