import Foundation

/// An error of this module: its kind, its explanation and its cause.
///
///     do { container = try ModelContainer(for: Trip.self) } catch SwiftDataError.loadIssueModelContainer {
///         // the file cannot be opened: see `underlyingError`
///     }
///
/// Two errors are equal, and match in a `catch`, if they are of the same kind; explanation and cause do not count.
///
/// Differs from Apple: the explanation names the failed operation, the entity and the property, and the cause is
/// attached.
public struct SwiftDataError: Error, Hashable, Sendable {
    /// What kinds of errors there are.
    package enum Kind: String, Sendable {
        case includePendingChangesWithBatchSize, unsupportedPredicate, unsupportedKeyPath
        case sortingPendingChangesWithIdentifiers, unsupportedSortDescriptor
        case duplicateConfiguration, configurationFileNameTooLong, configurationFileNameContainsInvalidCharacters
        case configurationSchemaNotFoundInContainerSchema, loadIssueModelContainer
        case modelValidationFailure, missingModelContext, backwardMigration, unknownSchema
        case historyTokenExpired, invalidTransactionFetchRequest
    }

    package let kind: Kind
    /// What failed, on which entity and property, why, and what to do; `nil` for the bare kinds below.
    public let explanation: String?
    /// The cause of this error.
    public let underlyingError: (any Error)?

    package init(_ kind: Kind, _ explanation: String? = nil, underlying: (any Error)? = nil) {
        self.kind = kind
        self.explanation = explanation
        underlyingError = underlying
    }

    public static func == (one: SwiftDataError, other: SwiftDataError) -> Bool { one.kind == other.kind }

    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }

    /// Whether an error is of this kind, so that `catch SwiftDataError.historyTokenExpired` works.
    public static func ~= (pattern: SwiftDataError, error: any Error) -> Bool {
        (error as? SwiftDataError)?.kind == pattern.kind
    }
}

extension SwiftDataError {
    /// Pending changes cannot be fetched in batches.
    public static let includePendingChangesWithBatchSize = SwiftDataError(.includePendingChangesWithBatchSize)
    /// The predicate has an expression that no store evaluates.
    public static let unsupportedPredicate = SwiftDataError(.unsupportedPredicate)
    /// The key path stands for no persistent property.
    public static let unsupportedKeyPath = SwiftDataError(.unsupportedKeyPath)
    /// Identifiers of pending changes cannot be sorted.
    public static let sortingPendingChangesWithIdentifiers = SwiftDataError(.sortingPendingChangesWithIdentifiers)
    /// The sort descriptor's key path or comparison is none that a store has.
    public static let unsupportedSortDescriptor = SwiftDataError(.unsupportedSortDescriptor)
    /// Two configurations of a container have one name or one file.
    public static let duplicateConfiguration = SwiftDataError(.duplicateConfiguration)
    /// The name of the configuration's file is longer than file systems allow.
    public static let configurationFileNameTooLong = SwiftDataError(.configurationFileNameTooLong)
    /// The name of the configuration's file has characters that file names cannot have.
    public static let configurationFileNameContainsInvalidCharacters = SwiftDataError(
        .configurationFileNameContainsInvalidCharacters)
    /// A configuration has an entity that the container's schema lacks.
    public static let configurationSchemaNotFoundInContainerSchema = SwiftDataError(
        .configurationSchemaNotFoundInContainerSchema)
    /// The container cannot open a store, or the schema has a property that cannot be stored.
    public static let loadIssueModelContainer = SwiftDataError(.loadIssueModelContainer)
    /// A model breaks a rule of its schema.
    public static let modelValidationFailure = SwiftDataError(.modelValidationFailure)
    /// The model is in no context.
    public static let missingModelContext = SwiftDataError(.missingModelContext)
    /// The store is of a later version than every schema of the migration plan.
    public static let backwardMigration = SwiftDataError(.backwardMigration)
    /// The store's schema is none of the migration plan.
    public static let unknownSchema = SwiftDataError(.unknownSchema)
    /// The history that the token refers to is deleted.
    public static let historyTokenExpired = SwiftDataError(.historyTokenExpired)
    /// The history cannot be fetched by that request.
    public static let invalidTransactionFetchRequest = SwiftDataError(.invalidTransactionFetchRequest)
}

extension SwiftDataError: LocalizedError, CustomStringConvertible, CustomNSError {
    public var errorDescription: String? { description }

    public var description: String {
        var parts = ["SwiftDataError.\(kind.rawValue)"]
        if let explanation { parts.append(explanation) }
        if let underlyingError { parts.append("Cause: \(underlyingError)") }
        return parts.joined(separator: ": ")
    }

    public static var errorDomain: String { "SwiftData.SwiftDataError" }

    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: description]
        if let underlyingError { info[NSUnderlyingErrorKey] = underlyingError }
        return info
    }
}
