import ArgumentParser
import CoreDataModel
import Foundation

/// The command `coredata mapping show`.
struct MappingShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Prints what a mapping model does with each entity and property.",
        discussion: """
            EXAMPLES
              coredata mapping show Library1to2.cdm
              coredata mapping show Library1to2.xcmappingmodel --json
            """)

    @Argument(help: "The mapping model: a .cdm or .xcmappingmodel.", completion: .file())
    var mapping: String

    @Flag(help: "Print it as JSON.")
    var json = false

    func run() throws { try MappingListing(MappingListing.read(mapping)).show(asJSON: json) }
}

/// A mapping model in the text and JSON output.
struct MappingListing: Encodable {
    struct Property: Encodable {
        var name: String
        /// The expression for the value, in the predicate language; `nil` if the property is not changed.
        var value: String?
    }

    struct Entity: Encodable {
        var name: String
        var kind: String
        var source: String?
        var sourceHash: String?
        var destination: String?
        var destinationHash: String?
        var policy: String?
        var objects: String?
        var attributes: [Property]
        var relationships: [Property]
    }

    var entities: [Entity]

    private static let kinds = ["undefined", "custom", "add", "remove", "copy", "transform"]

    init(_ document: MappingModelDocument) {
        func properties(_ found: [MappingModelDocument.Property]) -> [Property] {
            found.map { Property(name: $0.name, value: $0.valueExpression) }
        }
        entities = document.entities.map { entity in
            Entity(
                name: entity.name,
                kind: Self.kinds.indices.contains(entity.type) ? Self.kinds[entity.type] : "undefined",
                source: entity.sourceName, sourceHash: entity.sourceHash?.base64EncodedString(),
                destination: entity.destinationName, destinationHash: entity.destinationHash?.base64EncodedString(),
                policy: entity.policyClassName, objects: entity.sourceExpression,
                attributes: properties(entity.attributes), relationships: properties(entity.relationships))
        }
    }

    static func read(_ path: String) throws -> MappingModelDocument {
        guard FileManager.default.fileExists(atPath: path) else {
            throw ToolFailure("There is no mapping model at \(path).")
        }
        return try MappingModelDocument.read(contentsOf: URL(fileURLWithPath: path))
    }

    func show(asJSON: Bool) throws {
        if asJSON { return print(try JSONOutput.text(entities)) }
        for (index, entity) in entities.enumerated() {
            if index > 0 { print() }
            print("\(entity.name): \(entity.source ?? "nothing") → \(entity.destination ?? "nothing") (\(entity.kind))")
            if let policy = entity.policy { print("  by the policy \(policy)") }
            for property in entity.attributes + entity.relationships {
                print("  \(property.name) = \(property.value ?? "left as it is")")
            }
        }
    }
}
