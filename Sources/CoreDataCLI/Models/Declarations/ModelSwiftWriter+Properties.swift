import CoreDataModel
import CoreDataPrimitives
import Foundation

extension ModelSwiftWriter {
    mutating func property(_ property: PropertyElement, of owner: String) -> SwiftCall {
        var call: SwiftCall
        let name = SwiftText.quoted(property.name)
        switch property.kind {
        case .attribute(let attribute): call = self.attribute(attribute, of: property, owner)
        case .relationship(let relationship): call = self.relationship(relationship, name)
        case .fetched(let request):
            call = SwiftCall(
                "ModelFetchedProperty", [name, ".init(\(arguments(of: request).joined(separator: ", ")))"])
        }
        if !property.isOptional { call.modify("required", "") }
        if property.isTransient { call.modify("transient", "") }
        if property.isIndexed { call.modify("indexed", "") }
        if property.isIndexedBySpotlight { call.modify("indexedBySpotlight", "") }
        if property.isStoredInTruthFile { call.modify("storedInExternalRecord", "") }
        addValidations(of: property, to: &call)
        call.modify("renamed", property.renamingIdentifier.map { "from: \(SwiftText.quoted($0))" })
        call.modify("versionHashModifier", property.versionHashModifier.map(SwiftText.quoted))
        if !property.userInfo.isEmpty { call.modify("userInfo", SwiftText.dictionary(property.userInfo)) }
        return call
    }

    // MARK: Attributes

    private mutating func attribute(
        _ attribute: AttributeElement, of property: PropertyElement, _ owner: String
    ) -> SwiftCall {
        var call = SwiftCall("ModelAttribute", [SwiftText.quoted(property.name)])
        func report(_ message: String) {
            refuse("attribute '\(owner).\(property.name)' \(message)", at: property.location)
        }
        if let kind = Self.kind(of: attribute) {
            call.arguments.append(kind)
        } else {
            report("is of type \(attribute.type.displayName)")
        }
        let value =
            attribute.defaultValue.isNull
            ? attribute.defaultValueText.flatMap { DefaultValue.value($0, type: attribute.type) } ?? .null
            : attribute.defaultValue
        if let expression = attribute.derivationExpression {
            call.arguments.append("derivedFrom: \(SwiftText.quoted(expression))")
            if let filter = attribute.derivationFilter { call.arguments.append("where: \(SwiftText.quoted(filter))") }
            if !value.isNull { report("is derived and has a default") }
        } else if !value.isNull {
            if let argument = Self.defaultArgument(value, text: attribute.defaultValueText, type: attribute.type) {
                call.arguments.append(argument)
            } else {
                report("has a default of type \(attribute.type.displayName)")
            }
        }
        if attribute.type != .transformable {
            call.modify("valueTransformer", attribute.valueTransformerName.map(SwiftText.quoted))
            call.modify("valueClass", attribute.customClassName.map(SwiftText.quoted))
        }
        if attribute.allowsExternalBinaryDataStorage {
            call.modify("storedExternally", "")
            if ![.binaryData, .transformable].contains(attribute.type) { report("allows external storage") }
        }
        if attribute.preservesValueInHistoryOnDeletion { call.modify("preservedAfterDeletion", "") }
        if attribute.allowsCloudEncryption { call.modify("encryptedInCloud", "") }
        return call
    }

    private static func kind(of attribute: AttributeElement) -> String? {
        switch attribute.type {
        case .transformable:
            ".transformable("
                + [("by", attribute.valueTransformerName), ("valueClass", attribute.customClassName)]
                .compactMap { label, text in text.map { "\(label): \(SwiftText.quoted($0))" } }
                .joined(separator: ", ") + ")"
        case .composite: attribute.compositeName.map { ".composite(\(SwiftText.quoted($0)))" }
        case .objectID: nil
        default: "." + attribute.type.traits.swiftName
        }
    }

    private static func defaultArgument(_ value: Value, text: String?, type: AttributeType) -> String? {
        switch (type.kind, value) {
        case (.text, .string(let text)): return "default: \(SwiftText.quoted(text))"
        case (.boolean, .integer(let integer)): return "default: \(integer != 0)"
        case (.integer, .integer(let integer)): return "default: \(integer)"
        case (.real, .double(let number)), (.single, .double(let number)): return "default: \(number)"
        case (.bytes, .data(let data)):
            return "default: Data(base64Encoded: \(SwiftText.quoted(data.base64EncodedString())))"
        default:
            let spelled = text.flatMap { DefaultValue.value($0, type: type) == value ? $0 : nil }
            return (spelled ?? DefaultValue.text(of: value, type: type)).map {
                "defaultText: \(SwiftText.quoted($0))"
            }
        }
    }

    // MARK: Relationships

    private func relationship(_ relationship: RelationshipElement, _ name: String) -> SwiftCall {
        var arguments = [name, "to: \(SwiftText.quoted(relationship.destinationName ?? ""))"]
        if let inverse = relationship.inverseName { arguments.append("inverse: \(SwiftText.quoted(inverse))") }
        if relationship.maxCount != 1 || relationship.isOrdered {
            var counts: [String] = []
            if relationship.isOrdered { counts.append("ordered: true") }
            if relationship.minCount != 0 { counts.append("minimum: \(relationship.minCount)") }
            if relationship.maxCount != 0 { counts.append("maximum: \(relationship.maxCount)") }
            arguments.append(".toMany(\(counts.joined(separator: ", ")))")
        } else if relationship.minCount != 0 {
            arguments.append(".toOne(minimum: \(relationship.minCount))")
        }
        switch relationship.deleteRule {
        case .nullify: break
        case .cascade: arguments.append("deleteRule: .cascade")
        case .deny: arguments.append("deleteRule: .deny")
        case .noAction: arguments.append("deleteRule: .noAction")
        }
        return SwiftCall("ModelRelationship", arguments)
    }

    // MARK: Validation

    private func addValidations(of property: PropertyElement, to call: inout SwiftCall) {
        guard case .attribute(let attribute) = property.kind else {
            for validation in property.validations { Self.add(validation, to: &call) }
            return
        }
        let bounds = ValidationBounds(attribute.validations, type: attribute.type)
        let limits = [bounds.minimum, bounds.maximum].compactMap { $0 }
        guard let names = Self.boundNames(attribute.type, limits) else {
            for validation in attribute.validations { Self.add(validation, to: &call) }
            return
        }
        call.modify(names.minimum, bounds.minimum)
        call.modify(names.maximum, bounds.maximum)
        call.modify("matching", bounds.pattern.map(SwiftText.quoted))
        for validation in bounds.others { Self.add(validation, to: &call) }
    }

    /// Returns the names of the bounds' modifiers; `nil` if the limits are not literals of the attribute's Swift type.
    private static func boundNames(
        _ type: AttributeType, _ limits: [String]
    ) -> (minimum: String, maximum: String)? {
        switch type.kind {
        case .integer where !limits.allSatisfy { Int64($0).map { type.traits.range?.contains($0) ?? true } ?? false }:
            nil
        case .single where !limits.allSatisfy { Float($0)?.description == Double($0)?.description }: nil
        case .text: ("minimumLength", "maximumLength")
        case .integer, .real, .single: ("minimum", "maximum")
        default: nil
        }
    }

    private static func add(_ validation: ValidationElement, to call: inout SwiftCall) {
        let warning = validation.warning == "1550" ? "" : ", warning: \(SwiftText.quoted(validation.warning))"
        call.modify("validated", "by: \(SwiftText.quoted(validation.predicate))\(warning)")
    }
}
