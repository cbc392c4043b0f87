import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Writes a model as Swift: a function for each version that declares it (see `NSManagedObjectModel.init(_:)`).
///
/// The Swift form represents everything in a compiled model. Data for Xcode alone (diagrams, class generation) is
/// omitted; anything else that cannot be represented is an error.
struct ModelSwiftWriter {
    static func text(of versions: ModelVersions) throws -> String {
        let names = DeclarationNames(versions)
        var lines = ["import CoreData", "import Foundation", "", "/// The versions of the model \"\(versions.name)\"."]
        lines.append("enum \(names.type) {")
        lines.append("    /// The name of the version that applications use.")
        lines.append("    static let currentVersion = \(SwiftText.quoted(versions.currentName))")
        lines.append("")
        lines.append("    /// What makes each version, by its name.")
        lines.append("    static let versions: [String: @Sendable () throws -> NSManagedObjectModel] = [")
        for version in versions.versions {
            lines.append("        \(SwiftText.quoted(version.name)): \(names.functions[version.name] ?? ""),")
        }
        lines.append("    ]")
        var problems: [Diagnostic] = []
        for version in versions.versions {
            try version.document.checkIsComplete()
            var writer = ModelSwiftWriter(document: version.document.namingComposites())
            lines.append("")
            lines.append("    /// Version \"\(version.name)\".")
            lines.append(
                "    @Sendable static func \(names.functions[version.name] ?? "")() throws -> NSManagedObjectModel {")
            lines += writer.model().map { "        " + $0 }
            lines.append("    }")
            problems += writer.problems
        }
        if !problems.isEmpty { throw ModelFailure(diagnostics: problems) }
        return (lines + ["}", ""]).map { $0.allSatisfy { $0 == " " } ? "" : $0 }.joined(separator: "\n")
    }

    private let document: ModelDocument
    private(set) var problems: [Diagnostic] = []

    private init(document: ModelDocument) { self.document = document }

    mutating func refuse(_ message: String, at place: SourceLocation?) {
        problems.append(
            Diagnostic(
                .error, message + ", which a model in Swift cannot say", at: place,
                sourceLine: document.sourceLine(at: place), hint: "convert the model to JSON instead"))
    }

    // MARK: Model

    private mutating func model() -> [String] {
        var call = SwiftCall("try NSManagedObjectModel")
        if !document.versionIdentifiers.isEmpty {
            call.arguments.append("versionIdentifiers: \(SwiftText.list(document.versionIdentifiers))")
        }
        if document.appliesIndexDecodingQuirk { call.arguments.append("indexesAreCompiled: true") }
        var body: [String] = []
        for entity in document.entities { body += self.entity(entity) }
        for composite in document.composites {
            var call = SwiftCall("ModelComposite", [SwiftText.quoted(composite.name)])
            call.body = composite.properties.flatMap { property($0, of: composite.name).lines }
            body += call.lines
        }
        for request in document.fetchRequests {
            body += SwiftCall("ModelFetchRequest", [SwiftText.quoted(request.name)] + arguments(of: request)).lines
        }
        for configuration in document.configurations {
            var arguments = [SwiftText.quoted(configuration.name)]
            let names = configuration.entityNames.map(SwiftText.quoted)
            if !names.isEmpty { arguments.append("entities: " + names.joined(separator: ", ")) }
            body += SwiftCall("ModelConfiguration", arguments).lines
        }
        call.body = body
        // Without parts, write an empty closure; otherwise the call would use another initialiser.
        return body.isEmpty ? ["\(call.head) {}"] : call.lines
    }

    // MARK: Entities

    private mutating func entity(_ entity: EntityElement) -> [String] {
        var call = SwiftCall("ModelEntity", [SwiftText.quoted(entity.name)])
        if let name = entity.className { call.arguments.append("className: \(SwiftText.quoted(name))") }
        if let parent = entity.parentName { call.arguments.append("parent: \(SwiftText.quoted(parent))") }
        if entity.isAbstract { call.arguments.append("isAbstract: true") }
        for property in entity.properties { call.body += self.property(property, of: entity.name).lines }
        for index in entity.fetchIndexes { call.body += self.index(index, of: entity.name).lines }
        for constraint in entity.uniquenessConstraints {
            call.body += SwiftCall("ModelConstraint", constraint.map(SwiftText.quoted)).lines
        }
        call.modify("renamed", entity.renamingIdentifier.map { "from: \(SwiftText.quoted($0))" })
        call.modify("versionHashModifier", entity.versionHashModifier.map(SwiftText.quoted))
        call.modify("spotlightDisplayName", entity.coreSpotlightDisplayNameExpression.map(SwiftText.quoted))
        for index in entity.compoundIndexes {
            call.modify("compoundIndex", index.map(SwiftText.quoted).joined(separator: ", "))
        }
        if !entity.userInfo.isEmpty { call.modify("userInfo", SwiftText.dictionary(entity.userInfo)) }
        call.modify("versionHash", entity.knownVersionHash.map { SwiftText.quoted($0.base64EncodedString()) })
        return call.lines
    }

    private mutating func index(_ index: FetchIndexElement, of entity: String) -> SwiftCall {
        var call = SwiftCall("ModelIndex", [SwiftText.quoted(index.name)])
        let elements = index.elements.map { element -> String in
            let property = SwiftText.quoted(element.propertyName ?? "")
            if element.propertyName == nil {
                if element.isRTree {
                    refuse("index '\(entity).\(index.name)' has an R-tree expression", at: index.location)
                }
                var arguments = [SwiftText.quoted(element.expression ?? "")]
                if let type = element.expressionType { arguments.append("type: \(SwiftText.quoted(type))") }
                if !element.isAscending { arguments.append("ascending: false") }
                return ".expression(\(arguments.joined(separator: ", ")))"
            }
            if element.isRTree { return ".rTree(\(property)\(element.isAscending ? "" : ", ascending: false"))" }
            return element.isAscending ? property : ".descending(\(property))"
        }
        if !elements.isEmpty { call.arguments.append("on: " + elements.joined(separator: ", ")) }
        if let predicate = index.predicate { call.arguments.append("where: \(SwiftText.quoted(predicate))") }
        return call
    }

    /// Returns the arguments of a fetch request after its name.
    func arguments(of request: FetchRequestElement) -> [String] {
        var arguments = ["entity: \(SwiftText.quoted(request.entityName ?? ""))"]
        if let predicate = request.predicate { arguments.append("predicate: \(SwiftText.quoted(predicate))") }
        if !request.sorts.isEmpty {
            let sorts = request.sorts.map { sort in
                let selector = sort.selector.map { ", selector: \(SwiftText.quoted($0))" } ?? ""
                return ".\(sort.isAscending ? "ascending" : "descending")(\(SwiftText.quoted(sort.key))\(selector))"
            }
            arguments.append("sort: [\(sorts.joined(separator: ", "))]")
        }
        for (name, value) in [
            ("limit", request.fetchLimit), ("offset", request.fetchOffset), ("batchSize", request.fetchBatchSize),
        ] where value != 0 {
            arguments.append("\(name): \(value)")
        }
        let types = [1: "managedObjectIDResultType", 2: "dictionaryResultType", 4: "countResultType"]
        if let type = types[request.resultType] { arguments.append("resultType: .\(type)") }
        let options = [
            (!request.includesSubentities, ".withoutSubentities"),
            (!request.includesPropertyValues, ".withoutPropertyValues"),
            (!request.includesPendingChanges, ".withoutPendingChanges"),
            (!request.returnsObjectsAsFaults, ".withoutFaults"),
            (request.returnsDistinctResults, ".distinctResults"),
        ].filter(\.0).map(\.1)
        if !options.isEmpty { arguments.append("options: [\(options.joined(separator: ", "))]") }
        return arguments
    }
}
