import CoreDataPrimitives
import Foundation

/// Makes a ``ModelDocument`` from the `elements` of a model from before Xcode 4.
///
/// In this format, every item is a UML element with "stereotypes", each a set of named values.
struct ElementsReader {
    private var document = ModelDocument()

    static func document(from data: Data, file: String?) -> ModelDocument {
        var reader = ElementsReader()
        do {
            let archive = try KeyedArchiveReader(data)
            if let root = archive.root.object, root.className == "XDPMModel" {
                reader.readModel(root)
            } else {
                reader.report("the archive holds no model")
            }
        } catch {
            reader.document.diagnostics += error.diagnostics
        }
        for index in reader.document.diagnostics.indices {
            reader.document.diagnostics[index].location = file.map { SourceLocation(file: $0, line: 1, column: 1) }
        }
        reader.document.appliesIndexDecodingQuirk = true
        return reader.document
    }

    private mutating func report(_ message: String, severity: Diagnostic.Severity = .error) {
        document.diagnostics.append(Diagnostic(severity, message))
    }

    private mutating func readModel(_ root: ArchivedObject) {
        if let identifier = root["_modelVersionIdentifier"].text { document.versionIdentifiers = [identifier] }
        let entities = root["_xd_rootPackage"].object?["XDBucketForClassesstorage"].object?.objectsByName ?? [:]
        for (name, object) in entities.sorted(by: { NameOrder.byCodeUnits($0.key, $1.key) }) {
            document.entities.append(entity(object, name: name))
        }
        let configurations = root["_configurationsByName"].object?.objectsByName ?? [:]
        for (name, object) in configurations.sorted(by: { NameOrder.byCodeUnits($0.key, $1.key) }) {
            var configuration = ConfigurationElement(name: name)
            configuration.entityNames = (object.elements ?? []).compactMap { $0.text ?? $0.object?["_name"].text }
            document.configurations.append(configuration)
        }
    }

    private mutating func entity(_ object: ArchivedObject, name: String) -> EntityElement {
        let facts = facts(of: object)
        var entity = EntityElement(name: object["_name"].text ?? name)
        entity.className = facts["XD_PSK_entityClassName"]?.text
        entity.isAbstract = facts["XD_PSK_isAbstract"]?.bool ?? false
        entity.parentName =
            object["XDBucketForGeneralizationsstorage"].object?.elements?.first?.object?["_general"].object?["_name"]
            .text
        entity.userInfo = userInfo(facts["XD_PSK_userInfo"])
        entity.versionHashModifier = nonEmpty(facts["XD_PSK_versionHashModifier"])
        entity.renamingIdentifier = nonEmpty(facts["XD_PSK_elementID"])
        entity.compoundIndexes = nameLists(facts["XDPMCompoundIndexes"])
        entity.uniquenessConstraints = nameLists(facts["XDPMUniquenessConstraints"])
        if let requests = facts["XD_PSK_fetchRequestsArray"]?.object?.elements, !requests.isEmpty {
            report("the fetch requests of entity '\(entity.name)' are left out", severity: .warning)
        }
        let properties = object["XDBucketForOwnedAttributesstorage"].object?.objectsByName ?? [:]
        for (name, object) in properties.sorted(by: { NameOrder.byCodeUnits($0.key, $1.key) }) {
            if let property = property(object, name: name, entity: entity.name) { entity.properties.append(property) }
        }
        return entity
    }

    private mutating func property(_ object: ArchivedObject, name: String, entity: String) -> PropertyElement? {
        let facts = facts(of: object)
        let name = object["_name"].text ?? name
        let kind: PropertyElement.Kind
        switch object.className {
        case "XDPMAttribute": kind = .attribute(attribute(facts, path: "\(entity).\(name)"))
        case "XDPMRelationship": kind = .relationship(relationship(facts, path: "\(entity).\(name)"))
        default:
            report("property '\(entity).\(name)' of the kind '\(object.className)' is left out", severity: .warning)
            return nil
        }
        var property = PropertyElement(name: name, kind: kind)
        property.isOptional = facts["XD_PPSK_isOptional"]?.bool ?? false
        property.isTransient = facts["XD_PPSK_isTransient"]?.bool ?? false
        property.isIndexed = facts["XD_PPSK_isIndexed"]?.bool ?? false
        property.isIndexedBySpotlight = facts["XD_PPSK_isSpotlightIndexed"]?.bool ?? false
        property.isStoredInTruthFile = facts["XD_PPSK_isStoredInTruthFile"]?.bool ?? false
        property.userInfo = userInfo(facts["XD_PPSK_userInfo"])
        property.versionHashModifier = nonEmpty(facts["XD_PPSK_versionHashModifier"])
        property.renamingIdentifier = nonEmpty(facts["XD_PPSK_elementID"])
        return property
    }

    private mutating func attribute(_ facts: [String: ArchivedValue], path: String) -> AttributeElement {
        let code = facts["XD_PAttK_attributeType"]?.integer ?? 0
        let type = Int32(exactly: code).flatMap(AttributeType.init)
        if type == nil { report("attribute '\(path)' is of the unknown type \(code)") }
        var attribute = AttributeElement(type: type ?? .string)
        if let text = facts["XD_PAttK_defaultValueAsString"]?.text, type != nil {
            attribute.defaultValueText = text
            attribute.defaultValue = DefaultValue.value(text, type: attribute.type) ?? .null
        }
        attribute.valueTransformerName = nonEmpty(facts["XD_PAttK_valueTransformerName"])
        attribute.allowsExternalBinaryDataStorage = facts["XD_PAttK_allowsExternalBinaryDataStorage"]?.bool ?? false
        attribute.validations = AttributeReader.validations(
            type: attribute.type, minimum: nonEmpty(facts["XD_PAttK_minValueString"]),
            maximum: nonEmpty(facts["XD_PAttK_maxValueString"]),
            pattern: nonEmpty(facts["XD_PAttK_regularExpressionString"])
        ) { bound in
            report("attribute '\(path)' has the bound '\(bound)', which is not a number", severity: .warning)
        }
        return attribute
    }

    private mutating func relationship(_ facts: [String: ArchivedValue], path: String) -> RelationshipElement {
        var relationship = RelationshipElement()
        relationship.destinationName = facts["XD_PRK_destination"]?.object?["_name"].text
        relationship.inverseName = facts["XD_PRK_inverseRelationship"]?.object?["_name"].text
        if relationship.inverseName != nil { relationship.inverseEntityName = relationship.destinationName }
        let isToMany = facts["XD_PRK_isToMany"]?.bool ?? false
        relationship.minCount = facts["XD_PRK_minCount"]?.integer ?? 0
        relationship.maxCount = facts["XD_PRK_maxCount"]?.integer ?? (isToMany ? 0 : 1)
        relationship.isOrdered = facts["XD_PRK_ordered"]?.bool ?? false
        let rule = facts["XD_PRK_deleteRule"]?.integer ?? 1
        if let known = DeleteRule(rawValue: rule) {
            relationship.deleteRule = known
        } else {
            report("relationship '\(path)' has the unknown delete rule \(rule)")
        }
        return relationship
    }

    // MARK: Stereotypes

    /// Returns all values in the stereotypes of an element, by key.
    private func facts(of object: ArchivedObject) -> [String: ArchivedValue] {
        var result: [String: ArchivedValue] = [:]
        for stereotype in (object["XDBucketForStereotypesstorage"].object?.objectsByName ?? [:]).values {
            for (key, fact) in stereotype["XDBucketForOwnedAttributesstorage"].object?.objectsByName ?? [:] {
                result[key] = fact["_default"]
            }
        }
        return result
    }

    private func nonEmpty(_ value: ArchivedValue?) -> String? {
        value?.text.flatMap { $0.isEmpty || $0 == "$null" ? nil : $0 }
    }

    /// Returns the text entries only: others are settings of the sync services of that time.
    private func userInfo(_ value: ArchivedValue?) -> [String: String] {
        var result: [String: String] = [:]
        for (key, value) in value?.object?.entries ?? [] {
            if let key = key.text, let text = value.text { result[key] = text }
        }
        return result
    }

    private func nameLists(_ value: ArchivedValue?) -> [[String]] {
        (value?.object?.elements ?? []).map { $0.texts }.filter { !$0.isEmpty }
    }
}
