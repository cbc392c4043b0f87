import CoreDataModel
import CoreDataPrimitives
import CoreDataToolkit
import Foundation

extension ModelJSONReader {
    func attribute(_ value: LocatedJSON, of owner: String) -> PropertyElement {
        var (object, property) = begin(value, "attribute", of: owner)
        var type = AttributeType.undefined
        if let name = object.text("type") {
            if let known = AttributeType(fileName: name) {
                type = known
            } else {
                let names = AttributeType.allCases.compactMap(\.fileName)
                problems.report(
                    "\(object.what) has the unknown type '\(name)'" + Suggestion.text(for: name, among: names),
                    at: value.place)
            }
        }
        var attribute = AttributeElement(type: type)
        if let text = object.scalarText("default") {
            attribute.defaultValueText = text
            attribute.defaultValue = DefaultValue.value(text, type: type) ?? .null
        }
        if let value = object.take("defaultValue") { attribute.defaultValue = defaultValue(value, of: object.what) }
        attribute.usesScalarValueType = object.optionalFlag("usesScalar")
        attribute.validations = validations(
            &object, type: type, minimum: object.scalarText("minimum"), maximum: object.scalarText("maximum"),
            pattern: object.text("pattern"))
        attribute.valueTransformerName = object.text("valueTransformer")
        attribute.customClassName = object.text("valueClass")
        attribute.allowsExternalBinaryDataStorage = object.flag("allowsExternalStorage")
        attribute.preservesValueInHistoryOnDeletion = object.flag("isPreservedAfterDeletion")
        attribute.allowsCloudEncryption = object.flag("allowsCloudEncryption")
        attribute.derivationExpression = object.text("derivation")
        attribute.derivationFilter = object.text("derivationFilter")
        attribute.compositeName = object.text("composite")
        attribute.elements = object.list("elements").map { self.attribute($0, of: "\(owner).\(property.name)") }
        property.kind = .attribute(attribute)
        object.finish()
        return property
    }

    func relationship(_ value: LocatedJSON, of owner: String) -> PropertyElement {
        var (object, property) = begin(value, "relationship", of: owner)
        var relationship = RelationshipElement()
        relationship.destinationName = object.text("destination")
        relationship.inverseName = object.text("inverse")
        let inverseEntity = object.text("inverseEntity")
        relationship.inverseEntityName =
            inverseEntity ?? (relationship.inverseName == nil ? nil : relationship.destinationName)
        let isToMany = object.flag("isToMany")
        relationship.maxCount = object.integer("maximum") ?? (isToMany ? 0 : 1)
        relationship.minCount = object.integer("minimum") ?? 0
        relationship.isOrdered = object.flag("isOrdered")
        if let name = object.text("deleteRule") {
            if let rule = DeleteRule(fileName: name) {
                relationship.deleteRule = rule
            } else {
                problems.report(
                    "\(object.what) has the unknown delete rule '\(name)'", at: value.place,
                    hint: "use one of: Nullify, Cascade, Deny, No Action")
            }
        }
        relationship.validations = validations(&object, type: .undefined, minimum: nil, maximum: nil, pattern: nil)
        property.kind = .relationship(relationship)
        object.finish()
        return property
    }

    func fetchedProperty(_ value: LocatedJSON, of owner: String) -> PropertyElement {
        var (object, property) = begin(value, "fetched property", of: owner)
        let name = object.text("requestName") ?? "fetchedPropertyFetchRequest"
        property.kind = .fetched(fetchRequest(&object, name: name))
        object.finish()
        return property
    }

    func fetchRequest(_ object: inout JSONObjectReader, name: String) -> FetchRequestElement {
        var request = FetchRequestElement(name: name)
        request.location = object.place
        request.entityName = object.text("entity")
        request.predicate = object.text("predicate")
        let owner = object.what
        request.sorts = object.list("sort").map { value in
            var object = JSONObjectReader(value, "a sort of \(owner)", problems)
            let sort = FetchRequestElement.Sort(
                key: object.requiredText("key"), isAscending: object.flag("isAscending", default: true),
                selector: object.text("selector"))
            object.finish()
            return sort
        }
        request.fetchLimit = object.integer("limit") ?? 0
        request.fetchOffset = object.integer("offset") ?? 0
        request.fetchBatchSize = object.integer("batchSize") ?? 0
        request.resultType = object.integer("resultType") ?? 0
        request.includesSubentities = object.flag("includesSubentities", default: true)
        request.includesPropertyValues = object.flag("includesPropertyValues", default: true)
        request.includesPendingChanges = object.flag("includesPendingChanges", default: true)
        request.returnsObjectsAsFaults = object.flag("returnsObjectsAsFaults", default: true)
        request.returnsDistinctResults = object.flag("returnsDistinctResults")
        return request
    }

    /// Reads the fields that all kinds of properties have.
    private func begin(
        _ value: LocatedJSON, _ kind: String, of owner: String
    ) -> (JSONObjectReader, PropertyElement) {
        var object = JSONObjectReader(value, "a\(kind == "attribute" ? "n" : "") \(kind) of '\(owner)'", problems)
        let name = object.requiredText("name")
        object.what = "\(kind) '\(owner).\(name)'"
        var property = PropertyElement(name: name, kind: .attribute(AttributeElement(type: .undefined)))
        property.location = value.place
        property.isOptional = object.flag("isOptional")
        property.isTransient = object.flag("isTransient")
        property.isIndexed = object.flag("isIndexed")
        property.isIndexedBySpotlight = object.flag("isIndexedBySpotlight")
        property.isStoredInTruthFile = object.flag("isStoredInTruthFile")
        property.isSyncable = object.optionalFlag("isSyncable")
        property.renamingIdentifier = object.text("renamingIdentifier")
        property.versionHashModifier = object.text("versionHashModifier")
        property.userInfo = object.dictionary("userInfo")
        property.toolAttributes = object.dictionary("xcode")
        return (object, property)
    }

    private func validations(
        _ object: inout JSONObjectReader, type: AttributeType, minimum: String?, maximum: String?, pattern: String?
    ) -> [ValidationElement] {
        let owner = object.what
        let bounds = ValidationBounds.validations(type: type, minimum: minimum, maximum: maximum, pattern: pattern)
        if bounds == nil {
            problems.report("\(owner) has a bound or pattern that its type cannot have", at: object.place)
        }
        return (bounds ?? [])
            + object.list("validations").map { value in
                var object = JSONObjectReader(value, "a validation of \(owner)", problems)
                let validation = ValidationElement(
                    predicate: object.requiredText("predicate"), warning: object.scalarText("warning") ?? "")
                object.finish()
                return validation
            }
    }

    /// Reads a default of a type without a text form: `{"data": "AAE="}`, `{"integer": 5}`.
    private func defaultValue(_ value: LocatedJSON, of owner: String) -> Value {
        guard case .object(let fields) = value.content, fields.count == 1, let field = fields.first,
            let result = Self.value(field)
        else {
            problems.report(
                "\"defaultValue\" of \(owner) must be an object of one known kind of value", at: value.place,
                hint: "{\"data\": …}, {\"integer\": …}, double, decimal, string, date, uuid or uri")
            return .null
        }
        return result
    }

    private static func value(_ field: LocatedJSON.Field) -> Value? {
        guard case .leaf(let leaf) = field.value.content else { return nil }
        switch (field.name, leaf) {
        case ("integer", .number(let digits)): return Int64(digits).map { .integer($0) }
        case ("double", .number(let digits)): return Double(digits).map { .double($0) }
        case ("date", .number(let digits)): return Double(digits).map { .date($0) }
        case ("decimal", .text(let text)): return DefaultValue.value(text, type: .decimal)
        case ("string", .text(let text)): return .string(text)
        case ("data", .text(let text)): return Data(base64Encoded: text).map { .data($0) }
        case ("uuid", .text(let text)): return UUID(uuidString: text).map { .uuid($0) }
        case ("uri", .text(let text)): return .uri(text)
        default: return nil
        }
    }
}
