import CoreDataPrimitives
import Foundation

/// Makes a ``ModelDocument`` from the XML of a `.xcdatamodel`'s `contents`.
///
/// Content that it cannot interpret becomes a diagnostic of the document; unknown attributes are kept in
/// `toolAttributes`.
struct ContentsReader {
    private var document = ModelDocument()

    static func document(from data: Data, file: String?) -> ModelDocument {
        var reader = ContentsReader()
        do {
            let root = try MarkupParser.parse(data, file: file)
            if let file { reader.document.sources[file] = String(decoding: data, as: UTF8.self) }
            if root.name == "model" {
                reader.readModel(root)
                reader.document.unkept = ContentsGrammar.unkept(in: root) { reader.document.sourceLine(at: $0) }
            } else {
                reader.report("the root element is <\(root.name)>, not <model>", at: root.location)
            }
        } catch {
            reader.document.diagnostics += error.diagnostics
        }
        reader.document.appliesIndexDecodingQuirk = true
        return reader.document
    }

    private mutating func readModel(_ root: MarkupElement) {
        var taker = AttributeTaker(root)
        if let identifier = taker.text("userDefinedModelVersionIdentifier") {
            document.versionIdentifiers = [identifier]
        }
        document.toolAttributes = finish(&taker)
        for child in root.children {
            switch child.name {
            case "entity": document.entities.append(entity(child))
            case "fetchRequest": document.fetchRequests.append(fetchRequest(child))
            case "configuration": document.configurations.append(configuration(child))
            case "composite":
                var composite = CompositeElement(name: child.attributes["name"] ?? "")
                composite.location = child.location
                composite.properties = child.children.compactMap { property($0) }
                document.composites.append(composite)
            case "elements":
                document.diagram = child.children.map {
                    DiagramElement(
                        name: $0.attributes["name"] ?? "", attributes: $0.attributes.filter { $0.key != "name" })
                }
            default: reportUnknown(child, in: root)
            }
        }
    }

    private mutating func entity(_ element: MarkupElement) -> EntityElement {
        var taker = AttributeTaker(element)
        var entity = EntityElement(name: taker.text("name") ?? "")
        entity.location = element.location
        entity.className = taker.text("representedClassName")
        entity.parentName = taker.text("parentEntity")
        entity.isAbstract = taker.flag("isAbstract")
        entity.isSyncable = taker.optionalFlag("syncable")
        entity.codeGenerationType = taker.text("codeGenerationType")
        entity.versionHashModifier = taker.text("versionHashModifier")
        entity.renamingIdentifier = taker.text("elementID")
        entity.coreSpotlightDisplayNameExpression = taker.text("coreSpotlightDisplayNameExpression")
        entity.toolAttributes = finish(&taker)
        for child in element.children {
            switch child.name {
            case "attribute", "relationship", "fetchedProperty":
                if let property = property(child) { entity.properties.append(property) }
            case "fetchIndex": entity.fetchIndexes.append(fetchIndex(child))
            case "uniquenessConstraints":
                entity.uniquenessConstraints += child.children(named: "uniquenessConstraint").map { constraint in
                    constraint.children(named: "constraint").compactMap { $0.attributes["value"] }
                }
            case "compoundIndexes":
                entity.compoundIndexes += child.children(named: "compoundIndex").map { index in
                    index.children(named: "index").compactMap { $0.attributes["value"] }
                }
            case "userInfo": entity.userInfo = userInfo(child)
            default: reportUnknown(child, in: element)
            }
        }
        return entity
    }

    private mutating func property(_ element: MarkupElement) -> PropertyElement? {
        var taker = AttributeTaker(element)
        let name = taker.text("name") ?? ""
        var property: PropertyElement
        switch element.name {
        case "attribute": property = PropertyElement(name: name, kind: .attribute(AttributeReader.attribute(&taker)))
        case "relationship": property = PropertyElement(name: name, kind: .relationship(relationship(&taker)))
        case "fetchedProperty":
            let request = element.children(named: "fetchRequest").first.map { fetchRequest($0) }
            property = PropertyElement(name: name, kind: .fetched(request ?? FetchRequestElement(name: "")))
        default:
            reportUnknown(element, in: nil)
            return nil
        }
        property.location = element.location
        property.isOptional = taker.flag("optional")
        property.isTransient = taker.flag("transient")
        property.isIndexed = taker.flag("indexed")
        property.isIndexedBySpotlight = taker.flag("spotlightIndexingEnabled")
        property.isStoredInTruthFile = taker.flag("storedInTruthFile")
        property.isSyncable = taker.optionalFlag("syncable")
        property.versionHashModifier = taker.text("versionHashModifier")
        property.renamingIdentifier = taker.text("elementID")
        property.toolAttributes = finish(&taker)
        if let info = element.children(named: "userInfo").first { property.userInfo = userInfo(info) }
        return property
    }

    private mutating func relationship(_ taker: inout AttributeTaker) -> RelationshipElement {
        var relationship = RelationshipElement()
        relationship.destinationName = taker.text("destinationEntity")
        relationship.inverseName = taker.text("inverseName")
        relationship.inverseEntityName = taker.text("inverseEntity")
        let isToMany = taker.flag("toMany")
        // A to-many with at most one object is a to-one; only its spelling differs.
        if isToMany, taker.rest["maxCount"] == "1" { taker.keep("toMany", "YES") }
        relationship.maxCount = taker.integer("maxCount") ?? (isToMany ? 0 : 1)
        if isToMany, relationship.maxCount == 1 {
            report(
                "relationship '\(taker.element.attributes["name"] ?? "")' is to-many with a maximum count of 1, which "
                    + "makes it to-one", at: taker.element.location,
                hint: "remove toMany, or raise maxCount", severity: .warning, rule: .toManyOfOne)
        }
        relationship.minCount = taker.integer("minCount") ?? 0
        relationship.isOrdered = taker.flag("ordered")
        let rules: [DeleteRule] = [.nullify, .cascade, .deny, .noAction]
        relationship.deleteRule = taker.choice("deletionRule", rules.map { ($0.fileName, $0) }) ?? .nullify
        return relationship
    }

    private mutating func fetchIndex(_ element: MarkupElement) -> FetchIndexElement {
        var taker = AttributeTaker(element)
        var index = FetchIndexElement(name: taker.text("name") ?? "")
        index.location = element.location
        index.predicate = taker.text("partialIndexPredicate") ?? taker.text("predicateString")
        _ = finish(&taker)
        for child in element.children(named: "fetchIndexElement") {
            var taker = AttributeTaker(child)
            var part = FetchIndexElement.Element(
                propertyName: taker.text("property"), expression: taker.text("expression"))
            part.expressionType = taker.text("expressionType")
            part.isRTree = taker.choice("type", [("Binary", false), ("RTree", true)]) ?? false
            part.isAscending = taker.choice("order", [("ascending", true), ("descending", false)]) ?? true
            _ = finish(&taker)
            index.elements.append(part)
        }
        return index
    }

    private mutating func fetchRequest(_ element: MarkupElement) -> FetchRequestElement {
        var taker = AttributeTaker(element)
        var request = FetchRequestElement(name: taker.text("name") ?? "")
        request.location = element.location
        request.entityName = taker.text("entity")
        request.predicate = taker.text("predicateString")
        request.fetchLimit = taker.integer("fetchLimit") ?? 0
        request.fetchBatchSize = taker.integer("fetchBatchSize") ?? 0
        request.resultType = taker.integer("resultType") ?? 0
        request.includesSubentities = taker.flag("includeSubentities", default: true)
        request.includesPropertyValues = taker.flag("includePropertyValues", default: true)
        request.includesPendingChanges = taker.flag("includesPendingChanges", default: true)
        request.returnsObjectsAsFaults = taker.flag("returnObjectsAsFaults", default: true)
        request.returnsDistinctResults = taker.flag("returnDistinctResults")
        _ = finish(&taker)
        return request
    }

    private mutating func configuration(_ element: MarkupElement) -> ConfigurationElement {
        var taker = AttributeTaker(element)
        var configuration = ConfigurationElement(name: taker.text("name") ?? "")
        configuration.location = element.location
        configuration.usedWithCloudKit = taker.flag("usedWithCloudKit")
        configuration.entityNames = element.children(named: "memberEntity").compactMap { $0.attributes["name"] }
        _ = finish(&taker)
        return configuration
    }

    private func userInfo(_ element: MarkupElement) -> [String: String] {
        let entries = element.children(named: "entry").map { entry in
            (entry.attributes["key"] ?? "", entry.attributes["value"] ?? "")
        }
        return Dictionary(entries, uniquingKeysWith: { _, last in last })
    }

    /// Reports the taker's problems and returns the attributes that it did not read.
    private mutating func finish(_ taker: inout AttributeTaker) -> [String: String] {
        for var problem in taker.problems {
            problem.sourceLine = document.sourceLine(at: problem.location)
            document.diagnostics.append(problem)
        }
        return taker.rest
    }

    private mutating func report(
        _ message: String, at location: SourceLocation, hint: String? = nil, severity: Diagnostic.Severity = .error,
        rule: LintRule = .invalidModel
    ) {
        document.diagnostics.append(
            Diagnostic(
                severity, message, at: location, sourceLine: document.sourceLine(at: location), hint: hint,
                rule: rule.rawValue))
    }

    private mutating func reportUnknown(_ element: MarkupElement, in parent: MarkupElement?) {
        let place = parent.map { " in <\($0.name)>" } ?? ""
        report(
            "element <\(element.name)>\(place) is not known and ignored", at: element.location, severity: .warning,
            rule: .unknownElement)
    }
}
