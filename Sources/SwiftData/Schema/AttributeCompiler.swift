import CoreData
import Foundation

/// Makes attribute descriptions of an entity's attributes.
struct AttributeCompiler {
    /// The entity's name, for messages.
    let entity: String

    func description(of attribute: Schema.Attribute, isElement: Bool = false) throws -> NSAttributeDescription {
        let description: NSAttributeDescription
        let isByHand = (attribute as? Schema.CompositeAttribute)?.properties.isEmpty == false
        if attribute.form == nil, attribute.storedType != nil || isByHand {
            description = try stored(attribute)
        } else {
            do {
                description = try self.description(
                    of: attribute.resolvedForm(), isOptional: attribute.isOptional,
                    defaultValue: attribute.defaultValue, named: attribute.name)
            } catch let error as UnsupportedType {
                throw SwiftDataError(
                    .loadIssueModelContainer, error.message(of: "\(entity).\(attribute.name)"))
            }
        }
        if isElement { description.setElementName(attribute.name) } else { description.name = attribute.name }
        description.renamingIdentifier = attribute.originalName.isEmpty ? attribute.name : attribute.originalName
        description.versionHashModifier = attribute.hashModifier
        description.isTransient = attribute.isTransient
        for option in attribute.options {
            switch option.kind {
            case .externalStorage: description.allowsExternalBinaryDataStorage = true
            case .allowsCloudEncryption: description.allowsCloudEncryption = true
            case .preserveValueOnDeletion: description.preservesValueInHistoryOnDeletion = true
            case .spotlight: description.isIndexedBySpotlight = true
            case .unique, .transformable, .ephemeral, .codable: break
            }
        }
        return description
    }

    /// Of an attribute that was read from a file, by the type of its column; of a composite that was described by hand,
    /// by its elements.
    private func stored(_ attribute: Schema.Attribute) throws -> NSAttributeDescription {
        let description: NSAttributeDescription
        if let composite = attribute as? Schema.CompositeAttribute {
            let made = NSCompositeAttributeDescription()
            made.elements = try composite.properties.map { try self.description(of: $0, isElement: true) }
            description = made
        } else {
            description = NSAttributeDescription()
            description.attributeType = attribute.storedType ?? .undefinedAttributeType
        }
        description.isOptional = attribute.isOptional
        if attribute.storedType == .transformableAttributeType {
            description.valueTransformerName =
                attribute.options.first { $0.kind == .transformable }?.transformerName
                ?? AttributeForm.archiveTransformer
        }
        return description
    }

    private func description(
        of form: AttributeForm, isOptional: Bool, defaultValue: Any?, named name: String
    ) throws -> NSAttributeDescription {
        let encoded: Any?
        do { encoded = try defaultValue.flatMap { try form.encode($0) } } catch {
            throw SwiftDataError(
                .loadIssueModelContainer, "The default value of \(entity).\(name) cannot be stored.",
                underlying: error)
        }
        return description(of: form, isOptional: isOptional, encodedDefault: encoded)
    }

    private func description(
        of form: AttributeForm, isOptional: Bool, encodedDefault: Any?
    ) -> NSAttributeDescription {
        let description: NSAttributeDescription
        switch form.kind {
        case .composite(let elements):
            let composite = NSCompositeAttributeDescription()
            let defaults = AttributeForm.elements(encodedDefault)
            composite.elements = elements.map {
                let element = self.description(
                    of: $0.form, isOptional: $0.form.isOptional, encodedDefault: defaults?[$0.name])
                element.setElementName($0.name)
                element.renamingIdentifier = $0.name
                return element
            }
            if let enumeration = form.enumeration {
                composite.userInfo = ["EnumType": NSNumber(value: true)]
                if enumeration.rawType == nil { composite.userInfo?["enum"] = enumeration.cases }
                // Not Apple's, which leaves tools without the raw values.
                composite.userInfo?["rawValues"] = enumeration.rawValues
            }
            description = composite
        case .scalar(let type):
            description = NSAttributeDescription()
            description.attributeType = type
            // A model file has no default that is infinite, or no number.
            let isNumber = type == .doubleAttributeType || type == .floatAttributeType
            if !isNumber || (encodedDefault as? NSNumber)?.doubleValue.isFinite == true {
                description.defaultValue = encodedDefault
            }
        case .json:
            description = NSAttributeDescription()
            description.attributeType = .binaryDataAttributeType
            description.defaultValue = encodedDefault
        case .transformable(let transformer):
            description = NSAttributeDescription()
            description.attributeType = .transformableAttributeType
            description.valueTransformerName = transformer
            description.defaultValue = encodedDefault
        }
        description.isOptional = isOptional
        return description
    }
}
