import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Writes a ``ModelDocument`` as the `contents` of a `.xcdatamodel`, in Xcode's style: a file that Xcode wrote is
/// reproduced byte for byte.
///
/// Content that the format does not support (sort descriptors of a template, a validation predicate that is no bound,
/// …) is an error, so that nothing is lost.
package struct ContentsWriter {
    private let document: ModelDocument
    private var problems: [Diagnostic] = []
    private typealias Child = (inout MarkupWriter) -> Void

    /// Returns the file's text, or throws an error that lists all unsupported content.
    package static func text(of document: ModelDocument) throws(ModelFailure) -> String {
        try document.checkIsComplete()
        var writer = ContentsWriter(document: document)
        var markup = MarkupWriter()
        let children = writer.children()
        let attributes = writer.modelAttributes()
        if !writer.problems.isEmpty { throw ModelFailure(diagnostics: writer.problems) }
        markup.element("model", attributes, children: children)
        return markup.text
    }

    private init(document: ModelDocument) { self.document = document }

    private mutating func refuse(_ message: String, at place: SourceLocation?) {
        problems.append(
            Diagnostic(
                .error, message + ", which a .xcdatamodel cannot say", at: place,
                sourceLine: document.sourceLine(at: place), hint: "convert the model to JSON or a .momd instead"))
    }

    // MARK: Model

    private mutating func modelAttributes() -> [(String, String)] {
        var attributes = document.toolAttributes.isEmpty ? Self.newModelAttributes : document.toolAttributes
        if document.versionIdentifiers.count > 1 {
            refuse("the model has \(document.versionIdentifiers.count) version identifiers", at: nil)
        }
        attributes["userDefinedModelVersionIdentifier"] = document.versionIdentifiers.first
        var order = Self.modelOrder
        // Before Xcode 8, the identifier was the first attribute.
        if let tools = attributes["lastSavedToolsVersion"].flatMap(Double.init), tools < 11_000 {
            order.insert("userDefinedModelVersionIdentifier", at: 0)
        }
        return Self.ordered(attributes, by: order)
    }

    /// The attributes that Xcode 15 writes in a new model; later versions open it without an upgrade prompt.
    private static let newModelAttributes = [
        "type": "com.apple.IDECoreDataModeler.DataModel", "documentVersion": "1.0", "lastSavedToolsVersion": "22522",
        "systemVersion": "22G436", "minimumToolsVersion": "Automatic", "sourceLanguage": "Swift",
    ]

    private mutating func children() -> [Child] {
        var children: [Child] = []
        for entity in document.entities { children.append(self.entity(entity)) }
        for composite in document.composites {
            let elements = composite.properties.map { property($0, of: composite.name) }
            children.append { $0.element("composite", [("name", composite.name)], children: elements) }
        }
        for request in document.fetchRequests { children.append(fetchRequest(request)) }
        for configuration in document.configurations {
            var attributes = [("name", configuration.name)]
            if configuration.usedWithCloudKit { attributes.append(("usedWithCloudKit", "YES")) }
            let members: [Child] = configuration.entityNames.map { name in
                { $0.element("memberEntity", [("name", name)]) }
            }
            children.append { [attributes] in $0.element("configuration", attributes, children: members) }
        }
        if !document.diagram.isEmpty {
            let elements: [Child] = document.diagram.map { element in
                let attributes = element.attributes.merging(["name": element.name]) { $1 }
                return { $0.element("element", Self.ordered(attributes, by: Self.diagramOrder)) }
            }
            children.append { $0.element("elements", [], children: elements) }
        }
        return children
    }

    // MARK: Entities

    private mutating func entity(_ entity: EntityElement) -> Child {
        var attributes = entity.toolAttributes
        attributes["name"] = entity.name
        attributes["representedClassName"] = entity.className
        attributes["parentEntity"] = entity.parentName
        if entity.isAbstract { attributes["isAbstract"] = "YES" }
        attributes["syncable"] = entity.isSyncable.map { $0 ? "YES" : "NO" }
        attributes["codeGenerationType"] = entity.codeGenerationType
        attributes["versionHashModifier"] = entity.versionHashModifier
        attributes["elementID"] = entity.renamingIdentifier
        attributes["coreSpotlightDisplayNameExpression"] = entity.coreSpotlightDisplayNameExpression

        var children: [Child] = []
        for kind in ["attribute", "relationship", "fetchedProperty"] {
            for property in entity.properties where property.kind.markupName == kind {
                children.append(self.property(property, of: entity.name))
            }
        }
        for index in entity.fetchIndexes { children.append(fetchIndex(index)) }
        children += nameLists(entity.compoundIndexes, "compoundIndexes", "compoundIndex", "index")
        children += nameLists(
            entity.uniquenessConstraints, "uniquenessConstraints", "uniquenessConstraint", "constraint")
        children += userInfo(entity.userInfo)
        let ordered = Self.ordered(attributes, by: Self.entityOrder)
        return { [children] in $0.element("entity", ordered, children: children) }
    }

    private func nameLists(_ lists: [[String]], _ all: String, _ one: String, _ name: String) -> [Child] {
        if lists.isEmpty { return [] }
        let children: [Child] = lists.map { list in
            let names: [Child] = list.map { value in { $0.element(name, [("value", value)]) } }
            return { $0.element(one, [], children: names) }
        }
        return [{ $0.element(all, [], children: children) }]
    }

    private func userInfo(_ info: [String: String]) -> [Child] {
        if info.isEmpty { return [] }
        let entries: [Child] = info.sorted { NameOrder.byCodeUnits($0.key, $1.key) }.map { key, value in
            { $0.element("entry", [("key", key), ("value", value)]) }
        }
        return [{ $0.element("userInfo", [], children: entries) }]
    }

    private func fetchIndex(_ index: FetchIndexElement) -> Child {
        let elements: [Child] = index.elements.map { element in
            var attributes: [(String, String)] = []
            if let name = element.propertyName { attributes.append(("property", name)) }
            if let expression = element.expression { attributes.append(("expression", expression)) }
            if let type = element.expressionType { attributes.append(("expressionType", type)) }
            attributes.append(("type", element.isRTree ? "RTree" : "Binary"))
            attributes.append(("order", element.isAscending ? "ascending" : "descending"))
            return { [attributes] in $0.element("fetchIndexElement", attributes) }
        }
        var attributes = [("name", index.name)]
        // Apple's spelling is unknown.
        if let predicate = index.predicate { attributes.append(("partialIndexPredicate", predicate)) }
        return { [attributes] in $0.element("fetchIndex", attributes, children: elements) }
    }

    // MARK: Properties

    private mutating func property(_ property: PropertyElement, of owner: String) -> Child {
        var attributes: [String: String] = [:]
        var children: [Child] = []
        attributes["name"] = property.name
        if property.isOptional { attributes["optional"] = "YES" }
        if property.isTransient { attributes["transient"] = "YES" }
        if property.isIndexed { attributes["indexed"] = "YES" }
        if property.isIndexedBySpotlight { attributes["spotlightIndexingEnabled"] = "YES" }
        if property.isStoredInTruthFile { attributes["storedInTruthFile"] = "YES" }
        attributes["syncable"] = property.isSyncable.map { $0 ? "YES" : "NO" }
        attributes["versionHashModifier"] = property.versionHashModifier
        attributes["elementID"] = property.renamingIdentifier
        let order: [String]
        switch property.kind {
        case .attribute(let attribute):
            order = Self.attributeOrder
            do {
                attributes.merge(try AttributeMarkup.attributes(of: attribute)) { $1 }
            } catch {
                refuse("attribute '\(owner).\(property.name)' \(error.message)", at: property.location)
            }
        case .relationship(let relationship):
            order = Self.relationshipOrder
            if !relationship.validations.isEmpty {
                refuse("relationship '\(owner).\(property.name)' has validation predicates", at: property.location)
            }
            attributes.merge(self.attributes(of: relationship)) { $1 }
        case .fetched(let request):
            order = Self.attributeOrder
            children.append(fetchRequest(request))
        }
        children += userInfo(property.userInfo)
        attributes.merge(property.toolAttributes) { $1 }
        let ordered = Self.ordered(attributes, by: order)
        let name = property.kind.markupName
        return { [children] in $0.element(name, ordered, children: children) }
    }

    private func attributes(of relationship: RelationshipElement) -> [String: String] {
        var attributes: [String: String] = [:]
        attributes["destinationEntity"] = relationship.destinationName
        attributes["inverseName"] = relationship.inverseName
        attributes["inverseEntity"] = relationship.inverseEntityName
        if relationship.maxCount != 1 { attributes["toMany"] = "YES" }
        if relationship.maxCount != 0 { attributes["maxCount"] = String(relationship.maxCount) }
        if relationship.minCount != 0 { attributes["minCount"] = String(relationship.minCount) }
        if relationship.isOrdered { attributes["ordered"] = "YES" }
        attributes["deletionRule"] = relationship.deleteRule.fileName
        return attributes
    }

    private mutating func fetchRequest(_ request: FetchRequestElement) -> Child {
        if !request.sorts.isEmpty {
            refuse("fetch request '\(request.name)' has sort descriptors", at: request.location)
        }
        if request.fetchOffset != 0 {
            refuse("fetch request '\(request.name)' has an offset", at: request.location)
        }
        var attributes = [("name", request.name)]
        if let entity = request.entityName { attributes.append(("entity", entity)) }
        if let predicate = request.predicate { attributes.append(("predicateString", predicate)) }
        for (name, value) in [
            ("fetchLimit", request.fetchLimit), ("fetchBatchSize", request.fetchBatchSize),
            ("resultType", request.resultType),
        ] where value != 0 {
            attributes.append((name, String(value)))
        }
        for (name, value, standard) in [
            ("includeSubentities", request.includesSubentities, true),
            ("includePropertyValues", request.includesPropertyValues, true),
            ("includesPendingChanges", request.includesPendingChanges, true),
            ("returnObjectsAsFaults", request.returnsObjectsAsFaults, true),
            ("returnDistinctResults", request.returnsDistinctResults, false),
        ] where value != standard {
            attributes.append((name, value ? "YES" : "NO"))
        }
        return { [attributes] in $0.element("fetchRequest", attributes) }
    }

    // MARK: Order

    /// Sorts attributes in Xcode's order; unknown ones follow by name.
    private static func ordered(_ attributes: [String: String], by order: [String]) -> [(String, String)] {
        let rank = Dictionary(order.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        return attributes.sorted { a, b in
            let ranks = (rank[a.key] ?? order.count, rank[b.key] ?? order.count)
            return ranks.0 == ranks.1 ? NameOrder.byCodeUnits(a.key, b.key) : ranks.0 < ranks.1
        }.map { ($0.key, $0.value) }
    }

    static let modelOrder = [
        "name", "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion",
        "macOSVersion", "iOSVersion", "sourceLanguage", "usedWithCloudKit", "usedWithSwiftData",
        "userDefinedModelVersionIdentifier",
    ]
    static let entityOrder = [
        "name", "representedClassName", "isAbstract", "parentEntity", "coreSpotlightDisplayNameExpression",
        "versionHashModifier", "elementID", "syncable", "codeGenerationType",
    ]
    static let attributeOrder = [
        "name", "optional", "transient", "attributeType", "composite", "minValueString", "maxValueString",
        "minDateTimeInterval", "maxDateTimeInterval", "defaultDateTimeInterval", "defaultValueString",
        "regularExpressionString", "valueTransformerName", "customClassName", "derived", "derivationExpression",
        "allowsExternalBinaryDataStorage", "allowsCloudEncryption", "usesScalarValueType", "preserveAfterDeletion",
        "indexed", "spotlightIndexingEnabled", "storedInTruthFile", "versionHashModifier", "elementID", "syncable",
    ]
    static let relationshipOrder = [
        "name", "optional", "transient", "toMany", "minCount", "maxCount", "deletionRule", "ordered",
        "destinationEntity", "inverseName", "inverseEntity", "indexed", "spotlightIndexingEnabled",
        "storedInTruthFile", "versionHashModifier", "elementID", "syncable",
    ]
    static let diagramOrder = ["name", "positionX", "positionY", "width", "height"]
}

extension PropertyElement.Kind {
    fileprivate var markupName: String {
        switch self {
        case .attribute: "attribute"
        case .relationship: "relationship"
        case .fetched: "fetchedProperty"
        }
    }
}

extension ModelDocument {
    /// Throws if the document does not represent everything in its file: a new file would lose content.
    package func checkIsComplete() throws(ModelFailure) {
        let problems = diagnostics.filter { $0.severity == .error } + unkept
        if !problems.isEmpty { throw ModelFailure(diagnostics: problems) }
    }
}
