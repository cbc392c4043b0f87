import CoreDataModel
import CoreDataStore
import Foundation

/// The errors found in a store: in its file, in its tables, and in the references between its rows.
///
///     let verification = try NSPersistentStoreCoordinator.verifyPersistentStore(at: url)
///     for finding in verification.findings { print(finding) }
///     // error: Item.unit of row 7: points to row 12 of Unit, which does not exist
///
/// Apple's framework has no counterpart.
public struct PersistentStoreVerification: Codable, Hashable, Sendable {
    /// How bad a finding is.
    public enum Severity: String, Codable, Hashable, Sendable {
        /// Worth knowing; nothing is wrong.
        case note
        /// Works, but not as it should.
        case warning
        /// Data is lost or will be.
        case error
    }

    /// One thing that was found.
    public struct Finding: Codable, Hashable, Sendable, CustomStringConvertible {
        /// Whether data are wrong, or it is worth knowing.
        public var severity: Severity
        /// The entity of the finding, if it concerns one.
        public var entity: String?
        /// The property of the finding, if it concerns one.
        public var property: String?
        /// The primary key of the row at fault.
        public var row: Int64?
        /// The finding, as a sentence.
        public var message: String
        /// What to do about it.
        public var hint: String?
        /// The finding in one line, with its entity and property.
        public var description: String
    }

    /// Everything that was found, by part of the store.
    public var findings: [Finding]

    /// Whether nothing is wrong; warnings and notes may be there.
    public var isPassed: Bool { findings.allSatisfy { $0.severity != .error } }
}

extension NSPersistentStoreCoordinator {
    /// Checks the store at that URL against a model; reads every table and changes nothing.
    ///
    /// - Parameters:
    ///   - url: the store's file.
    ///   - model: the store's model; `nil` for the copy that the store keeps, as only SQLite stores and servers' stores
    ///     do.
    ///   - configuration: the part of the model that the store has; `nil` for all of it.
    /// - Throws: an error if the file is no store, or has no model and none is given. Errors inside a store are
    ///   findings.
    public class func verifyPersistentStore(
        at url: URL, model: NSManagedObjectModel? = nil, configuration: String? = nil
    ) throws -> PersistentStoreVerification {
        let compiled = try model?.freeze()
        let format = AtomicFileStore.format(ofType: StoreTools.type(ofStoreAt: url))
        let findings = try SQLStore.reading(url) { options in
            if let format {
                guard let compiled else {
                    throw StoreFailure(
                        .noCachedModel,
                        "The store '\(url.path)' of type \(format.storeType) keeps no copy of its model: give the model."
                    )
                }
                return try AtomicVerifier.verify(
                    format, model: compiled, configuration: configuration, path: url.path)
            }
            return try StoreVerifier.verify(
                model: compiled, configuration: configuration, options: options,
                makeDatabase: { try SQLStore.makeDatabase($0) })
        }
        return PersistentStoreVerification(findings: findings.map(PersistentStoreVerification.Finding.init))
    }
}

extension PersistentStoreVerification.Finding {
    fileprivate init(_ finding: StoreVerifier.Finding) {
        severity = PersistentStoreVerification.Severity(rawValue: finding.severity.rawValue) ?? .error
        entity = finding.entity
        property = finding.property
        row = finding.row
        message = finding.message
        hint = finding.hint
        description = finding.description
    }
}
