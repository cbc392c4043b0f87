import CoreDataModel
import CoreDataModelTools
import CoreDataPrimitives
import CoreDataToolkit
import Foundation

/// Writes a model as lossless JSON; docs/model-tools.md describes it. Default values are omitted.
struct ModelJSONWriter {
    /// Returns the JSON, or throws an error with the content that it cannot represent.
    static func text(of versions: ModelVersions) throws -> String {
        var writer = ModelJSONWriter()
        var object = JSONObject()
        object.add("format", .number("1"))
        object.add("name", .text(versions.name))
        if versions.versions.count > 1 || versions.namesCurrentVersion {
            object.add("current", .text(versions.currentName))
        }
        object.add("versions", .list(try versions.versions.map { try writer.version($0) }))
        if !writer.problems.isEmpty { throw ModelFailure(diagnostics: writer.problems) }
        return JSONLayout.text(of: .object(object.fields)) + "\n"
    }

    private var problems: [Diagnostic] = []

    private mutating func version(_ version: ModelVersions.Version) throws -> FieldValue {
        let document = version.document
        try document.checkIsComplete()
        var object = JSONObject()
        object.add("name", .text(version.name))
        object.add("isSource", document.appliesIndexDecodingQuirk)
        object.add("versionIdentifiers", document.versionIdentifiers)
        object.add("xcode", document.toolAttributes)
        object.add("entities", document.entities.map { entity($0) })
        object.add(
            "composites",
            document.composites.map { composite in
                var object = JSONObject()
                object.add("name", .text(composite.name))
                object.add("attributes", composite.properties.map { property($0) })
                return .object(object.fields)
            })
        object.add(
            "fetchRequests",
            document.fetchRequests.map { request in
                var object = JSONObject()
                object.add("name", .text(request.name))
                add(request, to: &object)
                return .object(object.fields)
            })
        object.add(
            "configurations",
            document.configurations.map { configuration in
                var object = JSONObject()
                object.add("name", .text(configuration.name))
                object.add("entities", configuration.entityNames)
                object.add("cloudKit", configuration.usedWithCloudKit)
                return .object(object.fields)
            })
        object.add(
            "diagram",
            document.diagram.map { element in
                var object = JSONObject()
                object.add("name", .text(element.name))
                object.add("frame", element.attributes)
                return .object(object.fields)
            })
        return .object(object.fields)
    }

    private mutating func entity(_ entity: EntityElement) -> FieldValue {
        var object = JSONObject()
        object.add("name", .text(entity.name))
        object.add("class", entity.className)
        object.add("parent", entity.parentName)
        object.add("isAbstract", entity.isAbstract)
        object.add("renamingIdentifier", entity.renamingIdentifier)
        object.add("versionHashModifier", entity.versionHashModifier)
        object.add("codeGeneration", entity.codeGenerationType)
        object.add("isSyncable", entity.isSyncable)
        object.add("spotlightDisplayName", entity.coreSpotlightDisplayNameExpression)
        object.add("versionHash", entity.knownVersionHash?.base64EncodedString())
        for (name, isMeant) in Self.kinds {
            object.add(name, entity.properties.filter { isMeant($0.kind) }.map { property($0) })
        }
        object.add("indexes", entity.fetchIndexes.map(Self.index))
        object.add("compoundIndexes", entity.compoundIndexes.map { .list($0.map { .text($0) }) })
        object.add("constraints", entity.uniquenessConstraints.map { .list($0.map { .text($0) }) })
        object.add("userInfo", entity.userInfo)
        object.add("xcode", entity.toolAttributes)
        return .object(object.fields)
    }

    private static let kinds: [(String, @Sendable (PropertyElement.Kind) -> Bool)] = [
        ("attributes", { if case .attribute = $0 { true } else { false } }),
        ("relationships", { if case .relationship = $0 { true } else { false } }),
        ("fetchedProperties", { if case .fetched = $0 { true } else { false } }),
    ]

    private static func index(_ index: FetchIndexElement) -> FieldValue {
        var object = JSONObject()
        object.add("name", .text(index.name))
        object.add("predicate", index.predicate)
        object.add(
            "elements",
            .list(
                index.elements.map { element in
                    if let name = element.propertyName, element == .init(propertyName: name) { return .text(name) }
                    var object = JSONObject()
                    object.add("property", element.propertyName)
                    object.add("expression", element.expression)
                    object.add("expressionType", element.expressionType)
                    object.add("isRTree", element.isRTree)
                    object.add("isAscending", element.isAscending, usually: true)
                    return .object(object.fields)
                }))
        return .object(object.fields)
    }

    private mutating func property(_ property: PropertyElement) -> FieldValue {
        var object = JSONObject()
        object.add("name", .text(property.name))
        switch property.kind {
        case .attribute(let attribute): add(attribute, of: property, to: &object)
        case .relationship(let relationship): add(relationship, to: &object)
        case .fetched(let request):
            if request.name != "fetchedPropertyFetchRequest" { object.add("requestName", .text(request.name)) }
            add(request, to: &object)
        }
        object.add("isOptional", property.isOptional)
        object.add("isTransient", property.isTransient)
        object.add("isIndexed", property.isIndexed)
        object.add("isIndexedBySpotlight", property.isIndexedBySpotlight)
        object.add("isStoredInTruthFile", property.isStoredInTruthFile)
        object.add("isSyncable", property.isSyncable)
        object.add("renamingIdentifier", property.renamingIdentifier)
        object.add("versionHashModifier", property.versionHashModifier)
        object.add("userInfo", property.userInfo)
        object.add("xcode", property.toolAttributes)
        return .object(object.fields)
    }

    private mutating func add(_ attribute: AttributeElement, of property: PropertyElement, to object: inout JSONObject)
    {
        if attribute.type != .undefined { object.add("type", attribute.type.fileName) }
        addDefault(of: attribute, named: property, to: &object)
        object.add("usesScalar", attribute.usesScalarValueType)
        let bounds = ValidationBounds(attribute.validations, type: attribute.type)
        object.add("minimum", bounds.minimum.map { .number($0) })
        object.add("maximum", bounds.maximum.map { .number($0) })
        object.add("pattern", bounds.pattern)
        object.add("validations", bounds.others.map(Self.validation))
        object.add("valueTransformer", attribute.valueTransformerName)
        object.add("valueClass", attribute.customClassName)
        object.add("allowsExternalStorage", attribute.allowsExternalBinaryDataStorage)
        object.add("isPreservedAfterDeletion", attribute.preservesValueInHistoryOnDeletion)
        object.add("allowsCloudEncryption", attribute.allowsCloudEncryption)
        object.add("derivation", attribute.derivationExpression)
        object.add("derivationFilter", attribute.derivationFilter)
        object.add("composite", attribute.compositeName)
        object.add("elements", attribute.elements.map { self.property($0) })
    }

    private mutating func addDefault(
        of attribute: AttributeElement, named property: PropertyElement, to object: inout JSONObject
    ) {
        let value = attribute.defaultValue
        if let text = attribute.defaultValueText, DefaultValue.value(text, type: attribute.type) ?? .null == value {
            object.add("default", Self.scalar(text, type: attribute.type))
        } else if !value.isNull, let text = DefaultValue.text(of: value, type: attribute.type) {
            object.add("default", Self.scalar(text, type: attribute.type))
        } else if !value.isNull {
            if let field = Self.tagged(value) {
                object.add("defaultValue", .object([field]))
            } else {
                problems.append(
                    Diagnostic(
                        .error, "attribute '\(property.name)' has a default that JSON cannot hold",
                        at: property.location))
            }
        }
    }

    /// Returns a default as a JSON number or boolean if that preserves its text, else as text.
    private static func scalar(_ text: String, type: AttributeType) -> FieldValue {
        switch type.kind {
        case .boolean where text == "YES" || text == "NO": return .boolean(text == "YES")
        case .integer, .real, .single, .decimal, .date:
            return JSONLayout.isNumber(text) ? .number(text) : .text(text)
        default: return .text(text)
        }
    }

    private static func tagged(_ value: Value) -> FieldValue.Field? {
        switch value {
        case .integer(let integer): .init(name: "integer", value: .number(String(integer)))
        case .double(let double) where double.isFinite: .init(name: "double", value: .number("\(double)"))
        case .date(let seconds) where seconds.isFinite: .init(name: "date", value: .number("\(seconds)"))
        case .decimal(let decimal): .init(name: "decimal", value: .text(decimal.description))
        case .string(let text): .init(name: "string", value: .text(text))
        case .data(let data): .init(name: "data", value: .text(data.base64EncodedString()))
        case .uuid(let uuid): .init(name: "uuid", value: .text(uuid.uuidString))
        case .uri(let text): .init(name: "uri", value: .text(text))
        case .null, .opaque, .double, .date: nil
        }
    }

    private static func validation(_ validation: ValidationElement) -> FieldValue {
        var object = JSONObject()
        object.add("predicate", .text(validation.predicate))
        object.add("warning", validation.warning.isEmpty ? nil : validation.warning)
        return .object(object.fields)
    }

    private func add(_ relationship: RelationshipElement, to object: inout JSONObject) {
        object.add("destination", relationship.destinationName)
        object.add("inverse", relationship.inverseName)
        if relationship.inverseEntityName != relationship.destinationName || relationship.inverseName == nil {
            object.add("inverseEntity", relationship.inverseEntityName)
        }
        object.add("isToMany", relationship.maxCount != 1)
        object.add("minimum", relationship.minCount)
        object.add("maximum", relationship.maxCount == 1 ? 0 : relationship.maxCount)
        object.add("isOrdered", relationship.isOrdered)
        object.add("deleteRule", .text(relationship.deleteRule.fileName))
        object.add("validations", relationship.validations.map(Self.validation))
    }

    private func add(_ request: FetchRequestElement, to object: inout JSONObject) {
        object.add("entity", request.entityName)
        object.add("predicate", request.predicate)
        object.add(
            "sort",
            request.sorts.map { sort in
                var object = JSONObject()
                object.add("key", .text(sort.key))
                object.add("isAscending", sort.isAscending, usually: true)
                object.add("selector", sort.selector)
                return .object(object.fields)
            })
        object.add("limit", request.fetchLimit)
        object.add("offset", request.fetchOffset)
        object.add("batchSize", request.fetchBatchSize)
        object.add("resultType", request.resultType)
        object.add("includesSubentities", request.includesSubentities, usually: true)
        object.add("includesPropertyValues", request.includesPropertyValues, usually: true)
        object.add("includesPendingChanges", request.includesPendingChanges, usually: true)
        object.add("returnsObjectsAsFaults", request.returnsObjectsAsFaults, usually: true)
        object.add("returnsDistinctResults", request.returnsDistinctResults)
    }
}
