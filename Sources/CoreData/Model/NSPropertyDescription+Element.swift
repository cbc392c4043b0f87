import CoreDataModel
import CoreDataPrimitives
import Foundation

// Properties as elements of a model document, in both directions.

extension NSPropertyDescription {
    /// The property as a document has it. User info that is no text, predicates and expressions with code in them,
    /// and defaults of transformable attributes have no place in a document and are left out.
    final func makeElement() -> PropertyElement {
        var element = PropertyElement(name: name, kind: makeKind())
        element.isOptional = isOptional
        element.isTransient = isTransient
        element.isIndexed = storedIsIndexed
        element.isIndexedBySpotlight = isIndexedBySpotlight
        element.isStoredInTruthFile = storedIsStoredInExternalRecord
        element.userInfo = UserInfo.text(userInfo)
        element.versionHashModifier = versionHashModifier
        element.renamingIdentifier = storedRenamingIdentifier
        return element
    }

    private func makeKind() -> PropertyElement.Kind {
        switch self {
        case let attribute as NSAttributeDescription: .attribute(attribute.makeAttribute())
        case let relationship as NSRelationshipDescription: .relationship(relationship.makeRelationship())
        case let fetched as NSFetchedPropertyDescription:
            .fetched(
                fetched.fetchRequest?.makeElement(name: "fetchedPropertyFetchRequest")
                    ?? FetchRequestElement(name: "fetchedPropertyFetchRequest"))
        default: .attribute(AttributeElement(type: .undefined))
        }
    }

    fileprivate final func makeValidations() -> [ValidationElement] {
        let warnings = validationWarnings
        return writtenPredicates.enumerated().compactMap { position, predicate in
            guard let text = predicate.text else { return nil }
            let warning = position < warnings.count ? "\(warnings[position])" : ""
            return ValidationElement(predicate: text, warning: warning)
        }
    }

    /// A description of the class that the element calls for, with everything but the other end resolved.
    static func make(
        _ element: PropertyElement, composites: inout [String: CompositeElement], isInComposite: Bool = false
    ) throws -> NSPropertyDescription {
        let property: NSPropertyDescription
        switch element.kind {
        case .attribute(let attribute):
            property = try NSAttributeDescription.make(attribute, composites: &composites)
        case .relationship(let relationship):
            property = try NSRelationshipDescription.make(relationship)
        case .fetched(let request):
            let fetched = NSFetchedPropertyDescription()
            fetched.fetchRequest = try NSFetchRequest.make(request)
            property = fetched
        }
        property.adoptCommon(element, isInComposite: isInComposite)
        return property
    }

    final func adoptCommon(_ element: PropertyElement, isInComposite: Bool) {
        if isInComposite { setElementName(element.name) } else { name = element.name }
        isOptional = element.isOptional
        isTransient = element.isTransient || self is NSFetchedPropertyDescription
        storedIsIndexed = element.isIndexed
        isIndexedBySpotlight = element.isIndexedBySpotlight
        storedIsStoredInExternalRecord = element.isStoredInTruthFile
        userInfo = element.userInfo
        versionHashModifier = element.versionHashModifier
        storedRenamingIdentifier = element.renamingIdentifier == element.name ? nil : element.renamingIdentifier
    }

    /// Takes over an archived element of the receiver's own kind.
    final func adopt(_ element: PropertyElement) -> Bool {
        var composites: [String: CompositeElement] = [:]
        guard let property = try? NSPropertyDescription.make(element, composites: &composites) else { return false }
        guard type(of: property) == type(of: self) || type(of: self) == NSPropertyDescription.self else {
            return false
        }
        adopt(property)
        return true
    }

    fileprivate final func setValidations(_ elements: [ValidationElement]) throws {
        guard !elements.isEmpty else { return }
        setValidations(
            try elements.map { try WrittenPredicate(text: $0.predicate) },
            warnings: elements.map { element -> Any in
                if let code = Int(element.warning) { return NSNumber(value: code) }
                return element.warning
            })
    }
}

extension NSAttributeDescription {
    fileprivate final func makeAttribute() -> AttributeElement {
        let type = attributeType.compiled
        var element = AttributeElement(type: type)
        // An unsuitable default is passed on unchanged, so that the compiler can report it.
        element.defaultValue =
            AttributeValueConversion.value(of: defaultValue, as: type)
            ?? AttributeValueConversion.value(of: defaultValue, as: .undefined) ?? .null
        element.validations = makeValidations()
        element.valueTransformerName = valueTransformerName
        element.customClassName = givenValueClassName
        element.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
        element.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
        element.allowsCloudEncryption = allowsCloudEncryption
        if let derived = self as? NSDerivedAttributeDescription {
            element.derivationExpression = derived.writtenExpression?.text ?? ""
            element.derivationFilter = derived.writtenFilter?.text
        }
        if let composite = self as? NSCompositeAttributeDescription {
            element.elements = composite.elements.map { $0.makeElement() }
        }
        return element
    }

    fileprivate static func make(
        _ element: AttributeElement, composites: inout [String: CompositeElement]
    ) throws -> NSAttributeDescription {
        let attribute: NSAttributeDescription
        if let text = element.derivationExpression {
            let derived = NSDerivedAttributeDescription()
            derived.writtenExpression = try WrittenExpression(text: text)
            derived.writtenFilter = try element.derivationFilter.map(WrittenPredicate.init(text:))
            attribute = derived
        } else if element.type == .composite {
            let composite = NSCompositeAttributeDescription()
            // Taken out while its elements are made, so that composites which contain each other come to an end.
            let named = element.compositeName.flatMap { composites.removeValue(forKey: $0) }
            composite.elements = try (named?.properties ?? element.elements).compactMap {
                try NSPropertyDescription.make($0, composites: &composites, isInComposite: true)
                    as? NSAttributeDescription
            }
            if let named { composites[named.name] = named }
            attribute = composite
        } else {
            attribute = NSAttributeDescription()
        }
        attribute.attributeType = NSAttributeType(element.type)
        var value = element.defaultValue
        if value.isNull, let text = element.defaultValueText {
            value = DefaultValue.value(text, type: element.type) ?? .null
        }
        attribute.defaultValue = AttributeValueConversion.object(for: value, as: element.type)
        try attribute.setValidations(element.validations)
        attribute.valueTransformerName = element.valueTransformerName
        attribute.attributeValueClassName = element.customClassName
        attribute.allowsExternalBinaryDataStorage = element.allowsExternalBinaryDataStorage
        attribute.preservesValueInHistoryOnDeletion = element.preservesValueInHistoryOnDeletion
        attribute.allowsCloudEncryption = element.allowsCloudEncryption
        return attribute
    }
}

extension NSRelationshipDescription {
    fileprivate final func makeRelationship() -> RelationshipElement {
        var element = RelationshipElement()
        element.destinationName = destinationEntity?.name ?? givenDestinationName
        let inverse = inverseRelationship
        element.inverseName = inverse?.name ?? givenInverseName
        element.inverseEntityName =
            inverse?.owner?.name ?? element.inverseName.map { _ in element.destinationName ?? "" }
        element.minCount = minCount
        element.maxCount = maxCount
        element.deleteRule = DeleteRule(rawValue: Int(deleteRule.rawValue)) ?? .nullify
        element.isOrdered = isOrdered
        element.validations = makeValidations()
        return element
    }

    fileprivate static func make(_ element: RelationshipElement) throws -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.setOtherEnd(destinationName: element.destinationName, inverseName: element.inverseName)
        relationship.minCount = element.minCount
        relationship.maxCount = element.maxCount
        relationship.deleteRule = NSDeleteRule(rawValue: UInt(element.deleteRule.rawValue)) ?? .nullifyDeleteRule
        relationship.isOrdered = element.isOrdered
        try relationship.setValidations(element.validations)
        return relationship
    }
}

/// Converts user info between `[AnyHashable: Any]` and the values that a model file can contain.
enum UserInfo {
    static func text(_ userInfo: [AnyHashable: Any]?) -> [String: String] {
        var result: [String: String] = [:]
        for (key, value) in userInfo ?? [:] {
            guard let key = key.base as? String else { continue }
            if let value = value as? String {
                result[key] = value
            } else if let value = value as? NSNumber {
                result[key] = value.stringValue
            }
        }
        return result
    }
}
