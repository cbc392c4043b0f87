import CoreDataDeclarations
import CoreDataModel
import CoreDataPrimitives
import CoreDataToolkit
import Foundation

extension DeclarationReader {
    func property(_ expression: SwiftExpression, of owner: String) -> PropertyElement? {
        guard case .call(let call) = expression.content, !call.hasLeadingPoint else {
            problems.report("a property should be here", at: expression.place)
            return nil
        }
        var reader = SwiftCallReader(call, at: expression.place, problems)
        let name = reader.requiredText(nil)
        let kind: PropertyElement.Kind
        switch call.name {
        case "ModelAttribute": kind = .attribute(attribute(&reader, named: "\(owner).\(name)"))
        case "ModelRelationship": kind = .relationship(relationship(&reader))
        case "ModelFetchedProperty":
            guard let (request, place) = reader.member(nil), request.name == "init" else {
                problems.report("a fetched property has .init(entity: …)", at: expression.place)
                return nil
            }
            var inner = SwiftCallReader(request, at: place, problems)
            kind = .fetched(fetchRequest(&inner, name: "fetchedPropertyFetchRequest"))
            inner.finish()
        default:
            problems.report("'\(call.name)' is no part of an entity that is read here", at: expression.place)
            return nil
        }
        reader.finish()
        var property = PropertyElement(name: name, kind: kind)
        property.isOptional = true
        property.location = expression.place
        for modifier in call.modifiers { apply(modifier, to: &property) }
        return property
    }

    // MARK: Attributes

    private func attribute(_ reader: inout SwiftCallReader, named name: String) -> AttributeElement {
        var attribute = AttributeElement(type: .undefined)
        if let (kind, place) = reader.member(nil) {
            var arguments = SwiftCallReader(kind, at: place, problems)
            switch kind.name {
            case "transformable":
                attribute.type = .transformable
                attribute.valueTransformerName = arguments.text("by")
                attribute.customClassName = arguments.text("valueClass")
            case "composite":
                attribute.type = .composite
                attribute.compositeName = arguments.requiredText(nil)
            default:
                if let type = Self.types[kind.name] {
                    attribute.type = type
                } else {
                    problems.report(
                        "attribute '\(name)' has the unknown kind '.\(kind.name)'"
                            + Suggestion.text(for: kind.name, among: Array(Self.types.keys)), at: place)
                }
            }
            arguments.finish()
        } else {
            problems.report("attribute '\(name)' has no kind", at: reader.place)
        }
        attribute.derivationExpression = reader.text("derivedFrom")
        attribute.derivationFilter = reader.text("where")
        if let text = reader.text("defaultText") { setDefault(text, of: &attribute, named: name, at: reader.place) }
        if let value = reader.take("default") {
            switch value.content {
            case .text(let text) where attribute.type.kind == .text:
                setDefault(text, of: &attribute, named: name, at: value.place)
            case .number(let digits): setDefault(digits, of: &attribute, named: name, at: value.place)
            case .boolean(let flag):
                setDefault(flag ? "YES" : "NO", of: &attribute, named: name, at: value.place)
            case .call(let call) where call.name == "Data":
                var data = SwiftCallReader(call, at: value.place, problems)
                if let bytes = Data(base64Encoded: data.requiredText("base64Encoded")) {
                    attribute.defaultValue = .data(bytes)
                } else {
                    problems.report("the default of attribute '\(name)' is not base64", at: value.place)
                }
                data.finish()
            default: let _: Int? = reader.wrong(value, "a literal of the attribute's kind")
            }
        }
        return attribute
    }

    /// The attribute types that a model in Swift names without arguments.
    private static let types: [String: AttributeType] = Dictionary(
        uniqueKeysWithValues: AttributeType.allCases.filter { ![.transformable, .composite, .objectID].contains($0) }
            .map { ($0.traits.swiftName, $0) })

    private func setDefault(
        _ text: String, of attribute: inout AttributeElement, named name: String, at place: SourceLocation
    ) {
        guard let value = DefaultValue.value(text, type: attribute.type) else {
            problems.report(
                "attribute '\(name)' has the default '\(text)', which is not a value of its kind", at: place)
            return
        }
        attribute.defaultValueText = text
        attribute.defaultValue = value
    }

    // MARK: Relationships

    private func relationship(_ reader: inout SwiftCallReader) -> RelationshipElement {
        var relationship = RelationshipElement()
        relationship.destinationName = reader.requiredText("to")
        relationship.inverseName = reader.text("inverse")
        relationship.inverseEntityName = relationship.inverseName.flatMap { _ in relationship.destinationName }
        relationship.maxCount = 1
        // Read it after a labelled argument, so that it is not one of the unlabelled arguments at the start.
        if let (cardinality, place) = reader.member(nil) {
            var counts = SwiftCallReader(cardinality, at: place, problems)
            switch cardinality.name {
            case "toOne": break
            case "toMany":
                relationship.isOrdered = counts.flag("ordered") ?? false
                relationship.maxCount = counts.integer("maximum") ?? 0
            default: problems.report("a relationship is .toOne or .toMany()", at: place)
            }
            relationship.minCount = counts.integer("minimum") ?? 0
            counts.finish()
        }
        if let (rule, place) = reader.member("deleteRule") {
            let rules: [String: DeleteRule] = [
                "nullify": .nullify, "cascade": .cascade, "deny": .deny, "noAction": .noAction,
            ]
            if let known = rules[rule.name] {
                relationship.deleteRule = known
            } else {
                problems.report("there is no delete rule '.\(rule.name)'", at: place)
            }
        }
        return relationship
    }

    // MARK: Modifiers

    private func apply(_ modifier: SwiftExpression, to property: inout PropertyElement) {
        guard case .call(let call) = modifier.content else { return }
        var reader = SwiftCallReader(call, at: modifier.place, problems)
        defer { reader.finish() }
        switch call.name {
        case "required": property.isOptional = false
        case "transient": property.isTransient = true
        case "indexed": property.isIndexed = true
        case "indexedBySpotlight": property.isIndexedBySpotlight = true
        case "storedInExternalRecord": property.isStoredInTruthFile = true
        case "renamed": property.renamingIdentifier = reader.requiredText("from")
        case "versionHashModifier": property.versionHashModifier = reader.requiredText(nil)
        case "userInfo": property.userInfo.merge(reader.dictionary(nil)) { $1 }
        case "validated":
            let validation = ValidationElement(
                predicate: reader.requiredText("by"), warning: reader.text("warning") ?? "1550")
            switch property.kind {
            case .attribute(var attribute):
                attribute.validations.append(validation)
                property.kind = .attribute(attribute)
            case .relationship(var relationship):
                relationship.validations.append(validation)
                property.kind = .relationship(relationship)
            case .fetched: problems.report("a fetched property is not validated", at: modifier.place)
            }
        default:
            guard case .attribute(var attribute) = property.kind, apply(call.name, &reader, to: &attribute) else {
                problems.report("'\(property.name)' has no modifier '\(call.name)'", at: modifier.place)
                return
            }
            property.kind = .attribute(attribute)
        }
    }

    /// Applies a modifier to an attribute; returns whether attributes have such a modifier.
    private func apply(_ name: String, _ reader: inout SwiftCallReader, to attribute: inout AttributeElement) -> Bool {
        var minimum: String?
        var maximum: String?
        var pattern: String?
        switch name {
        case "storedExternally": attribute.allowsExternalBinaryDataStorage = true
        case "preservedAfterDeletion": attribute.preservesValueInHistoryOnDeletion = true
        case "encryptedInCloud": attribute.allowsCloudEncryption = true
        case "valueTransformer": attribute.valueTransformerName = reader.requiredText(nil)
        case "valueClass": attribute.customClassName = reader.requiredText(nil)
        case "minimum", "minimumLength": minimum = number(&reader)
        case "maximum", "maximumLength": maximum = number(&reader)
        case "range", "length":
            guard let value = reader.take(nil) else { return false }
            guard case .range(let lower, let upper) = value.content else {
                let _: Int? = reader.wrong(value, "a range of two numbers")
                return true
            }
            (minimum, maximum) = (lower, upper)
        case "matching": pattern = reader.requiredText(nil)
        default: return false
        }
        if minimum != nil || maximum != nil || pattern != nil {
            guard
                let bounds = ValidationBounds.validations(
                    type: attribute.type, minimum: minimum, maximum: maximum, pattern: pattern)
            else { return false }
            attribute.validations += bounds
        }
        return true
    }

    private func number(_ reader: inout SwiftCallReader) -> String? {
        guard let value = reader.take(nil) else { return nil }
        if case .number(let digits) = value.content { return digits }
        return reader.wrong(value, "a number")
    }
}
