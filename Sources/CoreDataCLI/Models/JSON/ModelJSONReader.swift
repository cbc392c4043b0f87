import CoreDataModel
import CoreDataPrimitives
import CoreDataToolkit
import Foundation

/// Reads a model from the JSON that ``ModelJSONWriter`` writes; docs/model-tools.md describes it.
struct ModelJSONReader {
    let problems: ReadingProblems

    static func read(_ bytes: FileBytes) throws -> ModelVersions {
        let root = try LocatedJSON.parse(bytes)
        let text = bytes.text(0..<bytes.count) ?? ""
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let reader = ModelJSONReader(problems: ReadingProblems(sourceLines: lines))
        var versions = reader.versions(root)
        if !reader.problems.diagnostics.isEmpty { throw ModelFailure(diagnostics: reader.problems.diagnostics) }
        for index in versions.versions.indices { versions.versions[index].document.sources[bytes.name] = text }
        return versions
    }

    private func versions(_ root: LocatedJSON) -> ModelVersions {
        var object = JSONObjectReader(root, "the model", problems)
        let format = object.integer("format")
        if let format, format != 1 {
            problems.report(
                "the file has format \(format), which this version of coredata does not know", at: root.place,
                hint: "it knows format 1")
            return ModelVersions(name: "", versions: [], currentName: "")
        }
        if format == nil { problems.report("the model has no \"format\"", at: root.place, hint: "write \"format\": 1") }
        let name = object.requiredText("name")
        let current = object.text("current")
        let versions = object.list("versions").map(version)
        object.finish()
        if versions.isEmpty { problems.report("the model has no versions", at: root.place) }
        if Set(versions.map(\.name)).count < versions.count {
            problems.report("two versions of the model have one name", at: root.place)
        }
        let currentName = current ?? versions.first?.name ?? name
        if !versions.isEmpty, !versions.contains(where: { $0.name == currentName }) {
            problems.report(
                "the model's current version is '\(currentName)'"
                    + Suggestion.text(for: currentName, among: versions.map(\.name)), at: root.place)
        }
        var result = ModelVersions(name: name, versions: versions, currentName: currentName)
        result.namesCurrentVersion = current != nil
        return result
    }

    private func version(_ value: LocatedJSON) -> ModelVersions.Version {
        var object = JSONObjectReader(value, "a version", problems)
        let name = object.requiredText("name")
        object.what = "version '\(name)'"
        var document = ModelDocument()
        document.name = name
        document.appliesIndexDecodingQuirk = object.flag("isSource")
        document.versionIdentifiers = object.texts("versionIdentifiers")
        document.toolAttributes = object.dictionary("xcode")
        document.entities = object.list("entities").map(entity)
        document.composites = object.list("composites").map { value in
            var object = JSONObjectReader(value, "a composite", problems)
            var composite = CompositeElement(name: object.requiredText("name"))
            object.what = "composite '\(composite.name)'"
            composite.location = value.place
            composite.properties = object.list("attributes").map { attribute($0, of: composite.name) }
            object.finish()
            return composite
        }
        document.fetchRequests = object.list("fetchRequests").map { value in
            var object = JSONObjectReader(value, "a fetch request", problems)
            let name = object.requiredText("name")
            object.what = "fetch request '\(name)'"
            let request = fetchRequest(&object, name: name)
            object.finish()
            return request
        }
        document.configurations = object.list("configurations").map { value in
            var object = JSONObjectReader(value, "a configuration", problems)
            var configuration = ConfigurationElement(name: object.requiredText("name"))
            configuration.location = value.place
            configuration.entityNames = object.texts("entities")
            configuration.usedWithCloudKit = object.flag("cloudKit")
            object.finish()
            return configuration
        }
        document.diagram = object.list("diagram").map { value in
            var object = JSONObjectReader(value, "an element of the diagram", problems)
            let element = DiagramElement(
                name: object.requiredText("name"), attributes: object.dictionary("frame"))
            object.finish()
            return element
        }
        object.finish()
        return ModelVersions.Version(name: name, document: document)
    }

    private func entity(_ value: LocatedJSON) -> EntityElement {
        var object = JSONObjectReader(value, "an entity", problems)
        var entity = EntityElement(name: object.requiredText("name"))
        object.what = "entity '\(entity.name)'"
        entity.location = value.place
        entity.className = object.text("class")
        entity.parentName = object.text("parent")
        entity.isAbstract = object.flag("isAbstract")
        entity.renamingIdentifier = object.text("renamingIdentifier")
        entity.versionHashModifier = object.text("versionHashModifier")
        entity.codeGenerationType = object.text("codeGeneration")
        entity.isSyncable = object.optionalFlag("isSyncable")
        entity.coreSpotlightDisplayNameExpression = object.text("spotlightDisplayName")
        if let text = object.text("versionHash") {
            entity.knownVersionHash = Data(base64Encoded: text)
            if entity.knownVersionHash == nil {
                problems.report("\"versionHash\" of \(object.what) must be base64", at: value.place)
            }
        }
        entity.properties =
            object.list("attributes").map { attribute($0, of: entity.name) }
            + object.list("relationships").map { relationship($0, of: entity.name) }
            + object.list("fetchedProperties").map { fetchedProperty($0, of: entity.name) }
        entity.fetchIndexes = object.list("indexes").map { index($0, of: entity.name) }
        entity.compoundIndexes = nameLists(&object, "compoundIndexes")
        entity.uniquenessConstraints = nameLists(&object, "constraints")
        entity.userInfo = object.dictionary("userInfo")
        entity.toolAttributes = object.dictionary("xcode")
        object.finish()
        return entity
    }

    private func nameLists(_ object: inout JSONObjectReader, _ name: String) -> [[String]] {
        let owner = object.what
        return object.list(name).map { value in
            guard case .list(let names) = value.content else {
                problems.report("\"\(name)\" of \(owner) must be a list of lists", at: value.place)
                return []
            }
            return names.compactMap { element in
                if case .leaf(.text(let text)) = element.content { return text }
                problems.report("\"\(name)\" of \(owner) must be lists of property names", at: element.place)
                return nil
            }
        }
    }

    private func index(_ value: LocatedJSON, of entity: String) -> FetchIndexElement {
        var object = JSONObjectReader(value, "an index of '\(entity)'", problems)
        var index = FetchIndexElement(name: object.requiredText("name"))
        index.location = value.place
        index.predicate = object.text("predicate")
        index.elements = object.list("elements").map { value in
            if case .leaf(.text(let name)) = value.content { return FetchIndexElement.Element(propertyName: name) }
            var object = JSONObjectReader(value, "an element of index '\(entity).\(index.name)'", problems)
            var element = FetchIndexElement.Element(
                propertyName: object.text("property"), expression: object.text("expression"))
            element.expressionType = object.text("expressionType")
            element.isRTree = object.flag("isRTree")
            element.isAscending = object.flag("isAscending", default: true)
            object.finish()
            return element
        }
        object.finish()
        return index
    }
}
