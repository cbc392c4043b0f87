import CoreDataModel

/// A setting of an element in Xcode's model editor. The raw value is the attribute in the model file.
///
/// The ``traits`` contain the name in Xcode, the meaning for a store, and the form of the value: commands check values
/// by this table, and the editor's forms are made from it.
package enum ModelSetting: String, CaseIterable, Sendable {
    // Model
    case versionIdentifier = "userDefinedModelVersionIdentifier"
    case minimumToolsVersion, sourceLanguage
    case modelUsedWithSwiftData = "usedWithSwiftData"
    // Entity
    case className = "representedClassName"
    case codeGeneration = "codeGenerationType"
    case parent = "parentEntity"
    case isAbstract
    case spotlightDisplayName = "coreSpotlightDisplayNameExpression"
    // Properties
    case isOptional = "optional"
    case isTransient = "transient"
    // Attribute
    case attributeType
    case composite
    case derivation = "derivationExpression"
    case minimum = "minValueString"
    case maximum = "maxValueString"
    case defaultValue = "defaultValueString"
    case pattern = "regularExpressionString"
    case valueTransformer = "valueTransformerName"
    case customClass = "customClassName"
    case usesScalar = "usesScalarValueType"
    case allowsExternalStorage = "allowsExternalBinaryDataStorage"
    case allowsCloudEncryption
    case preservesAfterDeletion = "preserveAfterDeletion"
    // Relationship
    case destination = "destinationEntity"
    case isToMany = "toMany"
    case isOrdered = "ordered"
    case minimumCount = "minCount"
    case maximumCount = "maxCount"
    case deleteRule = "deletionRule"
    // Properties, advanced
    case isIndexed = "indexed"
    case isIndexedBySpotlight = "spotlightIndexingEnabled"
    case isStoredInTruthFile = "storedInTruthFile"
    case hashModifier = "versionHashModifier"
    case renamingIdentifier = "elementID"
    case isSynchronized = "syncable"
    // Fetch request, fetched property
    case requestEntity = "entity"
    case predicate = "predicateString"
    case fetchLimit, fetchBatchSize, resultType
    case includesSubentities = "includeSubentities"
    case includesPropertyValues = "includePropertyValues"
    case includesPendingChanges
    case returnsObjectsAsFaults = "returnObjectsAsFaults"
    case returnsDistinctResults = "returnDistinctResults"
    // Fetch index, configuration
    case indexPredicate = "partialIndexPredicate"
    case usedWithCloudKit
}

extension ModelSetting {
    /// An element that can have the setting.
    package enum Target: Hashable, CaseIterable, Sendable {
        case model, entity, attribute, relationship, fetchedProperty, fetchIndex, fetchRequest, configuration
        case compositeElement
    }

    /// The form of a setting's value.
    package enum Form: Sendable {
        /// `YES` or `NO`; a file without the attribute has the default.
        case flag(default: Bool)
        /// `YES`, `NO` or absent, which differ.
        case optionalFlag
        case text
        /// A whole number from 0; a file without the attribute has the default.
        case count(default: Int)
        /// One of several values; `nil` is the absent attribute.
        case choice([(value: String?, title: String)])
        case entity
        case composite
        case predicate
        /// A value of the attribute's type.
        case value
        /// A number, a length or a date.
        case bound
        case pattern

        /// A choice of values that are their own titles.
        static func names(_ names: [String]) -> Form { .choice(names.map { (value: Optional($0), title: $0) }) }
    }

    package struct Traits: Sendable {
        /// The name in Xcode's inspectors.
        package var title: String
        /// The meaning for objects and stores.
        package var hint: String
        package var form: Form
        package var targets: Set<Target>
    }

    /// Returns the settings of an element, in the order of Xcode's inspectors.
    ///
    /// - Parameter type: the type of an attribute; settings without a meaning for it are left out.
    package static func settings(of target: Target, type: AttributeType? = nil) -> [ModelSetting] {
        allCases.filter { $0.traits.targets.contains(target) && $0.isMeaningful(for: type) }
    }

    /// Returns whether an attribute of the type can have the setting.
    package func isMeaningful(for type: AttributeType?) -> Bool {
        guard let type else { return true }
        return switch self {
        case .minimum, .maximum: type.kind == .text || type.kind == .date || type.kind.isQuantity
        case .pattern: type == .string
        case .composite: type == .composite
        case .valueTransformer, .customClass: type == .transformable
        case .allowsExternalStorage: type == .binaryData || type == .transformable
        case .usesScalar: type.traits.declared.scalar != nil
        case .defaultValue: ![.binaryData, .transformable, .composite, .undefined, .objectID].contains(type)
        case .derivation: type != .composite
        default: true
        }
    }

    /// The attribute of the XML element that holds the setting.
    func attribute(for type: AttributeType?) -> String {
        guard type == .date else { return rawValue }
        return switch self {
        case .minimum: "minDateTimeInterval"
        case .maximum: "maxDateTimeInterval"
        case .defaultValue: "defaultDateTimeInterval"
        default: rawValue
        }
    }
}
