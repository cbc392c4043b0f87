import CoreDataPrimitives

/// A rule for checking models; developers write the raw value to suppress it.
///
/// The table in docs/model-tools.md lists every rule; a test compares both lists.
package enum LintRule: String, CaseIterable, Sendable {
    // Errors that make a model unusable.
    case invalidModel = "invalid-model"
    case duplicateName = "duplicate-name"
    case reservedName = "reserved-name"
    case inheritedRedeclared = "inherited-redeclared"
    case badDestination = "bad-destination"
    case badInverse = "bad-inverse"
    case badDefault = "bad-default"
    case badConstraint = "bad-constraint"
    case badIndex = "bad-index"
    case badConfiguration = "bad-configuration"
    case badFetchRequest = "bad-fetch-request"
    case badDerivation = "bad-derivation"
    case badPredicate = "bad-predicate"
    case unknownKey = "unknown-key"
    case minimumAboveMaximum = "minimum-above-maximum"

    // Content of the files that has no effect.
    case unknownElement = "unknown-element"
    case toManyOfOne = "to-many-of-one"
    case orderedToOne = "ordered-to-one"
    case needlessExternalStorage = "needless-external-storage"
    case nothingGenerated = "nothing-generated"
    case noCurrentVersion = "no-current-version"

    // Relationships and their delete rules.
    case missingInverse = "missing-inverse"
    case noActionWithInverse = "no-action-with-inverse"
    case denyDeadlock = "deny-deadlock"
    case nullifyRequired = "nullify-required"
    case cascadeToOwner = "cascade-to-owner"
    case cascadeCycle = "cascade-cycle"
    case configurationLeft = "configuration-left"

    // Attributes.
    case defaultFailsValidation = "default-fails-validation"
    case requiredWithoutDefault = "required-without-default"
    case scalarWithoutDefault = "scalar-without-default"
    case transformableWithoutTransformer = "transformable-without-transformer"
    case insecureTransformer = "insecure-transformer"
    case optionalInConstraint = "optional-in-constraint"

    // Entities and names.
    case entityWithoutProperties = "entity-without-properties"
    case abstractWithoutChildren = "abstract-without-children"
    case columnCollision = "column-collision"
    case swiftKeyword = "swift-keyword"
    case duplicateRenaming = "duplicate-renaming"
    case sharedClass = "shared-class"
    case invalidClassName = "invalid-class-name"

    /// The default severity of a violation. A violation may be less severe: a default that is only ignored is a
    /// warning.
    package var severity: Diagnostic.Severity {
        switch self {
        case .invalidModel, .duplicateName, .reservedName, .inheritedRedeclared, .badDestination, .badInverse,
            .badDefault, .badConstraint, .badIndex, .badConfiguration, .badFetchRequest, .badDerivation,
            .badPredicate, .unknownKey, .minimumAboveMaximum, .invalidClassName:
            .error
        case .scalarWithoutDefault, .optionalInConstraint, .swiftKeyword: .note
        default: .warning
        }
    }
}
