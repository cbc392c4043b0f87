import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// The reason why a store could not be opened, created or read.
package struct StoreFailure: EngineFailure, Sendable {
    package enum Kind: Sendable, Equatable {
        /// The file is not a database, or is damaged.
        case notADatabase
        /// The file cannot be opened or created: it does not exist, or permissions forbid it.
        case cannotOpen
        /// The permission to read the file is missing.
        case unreadable
        /// The store's metadata do not identify the store and its model.
        case lostMetadata
        /// A database that Core Data did not create: bookkeeping tables are missing.
        case notAStore
        /// The store's metadata name another store type.
        case wrongStoreType
        /// The store's format is newer than this version supports.
        case newerFormat
        /// The store was created with another version of the model.
        case incompatibleModel
        /// The version hashes match, but tables or columns are missing.
        case incompleteSchema
        /// The store has no cached model.
        case noCachedModel
        /// The model has a feature that no store of this type supports.
        case unsupportedModel
        /// The model has no configuration with that name.
        case unknownConfiguration
        /// The operation writes, and the store is read-only.
        case readOnly
    }

    package var kind: Kind
    /// What failed, on which store, and what to do about it.
    package var message: String
    package var entity: String?
    package var property: String?
    /// For ``Kind/incompatibleModel``: the differences between store and model.
    package var mismatch: ModelMismatch?
    /// For ``Kind/incompleteSchema``: everything that is missing.
    package var missing: [MissingPart] = []
    /// The database's failure.
    package var cause: SQLFailure?
    /// The store's metadata and UUID, if they could be read.
    package var metadata: MetadataRow?

    package init(
        _ kind: Kind, _ message: String, entity: String? = nil, property: String? = nil, cause: SQLFailure? = nil
    ) {
        self.kind = kind
        self.message = message
        self.entity = entity
        self.property = property
        self.cause = cause
    }

    /// A table or column that the model expects and the store lacks.
    package struct MissingPart: Hashable, Sendable, CustomStringConvertible {
        package var entity: String
        package var property: String?
        package var table: String
        /// The column; `nil` if the whole table is missing.
        package var column: String?

        /// The database's names for the engine's names; `nil` if they are equal.
        package var names: SQLNames?

        /// Whether the entity's number is missing.
        private var isNumber: Bool { table == BookkeepingSchema.primaryKeyTable && column == "Z_ENT" }

        /// The description of the missing part.
        package var text: String {
            if isNumber {
                return
                    "\(shown("Z_PRIMARYKEY")) has no row for the entity, or one without a number in \(shown("Z_ENT")), \(shown("Z_SUPER")) or \(shown("Z_MAX"))"
            }
            return column.map { "table \(shown(table)) has no column \(shown($0))" }
                ?? "there is no table \(shown(table))"
        }

        package var description: String {
            let subject = property.map { "\(entity).\($0)" } ?? entity
            if isNumber { return "\(subject): \(text)" }
            return column.map { "\(subject): no column \(shown($0)) in table \(shown(table))" }
                ?? "\(subject): no table \(shown(table))"
        }

        private func shown(_ name: String) -> String { names?.stored(name) ?? name }
    }
}

extension StoreFailure {
    /// Runs `body`, and converts the database's failures to failures of a store.
    package static func translated<R>(_ path: String?, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let failure as SQLFailure {
            switch failure.kind {
            case .notADatabase, .corrupt:
                if let path, let start = failure.fileStart, let other = otherKind(path, start) { throw other }
                throw StoreFailure(
                    .notADatabase, "The file\(quoted(path)) is not a database, or it is damaged: \(failure.message).",
                    cause: failure)
            case .cannotOpen:
                throw StoreFailure(
                    .cannotOpen,
                    "\(path == nil ? "The store" : "The file\(quoted(path))") cannot be opened: \(reason(failure, path)).",
                    cause: failure)
            case .unreadable where path != nil:
                throw StoreFailure(
                    .unreadable,
                    "The file\(quoted(path)) cannot be read: \(reason(failure, path)). Ask its owner for the right to read it.",
                    cause: failure)
            default: throw failure
            }
        }
    }

    /// Returns a failure that names the actual format of a file that is not a database, if it is known.
    private static func otherKind(_ path: String, _ bytes: [UInt8]) -> StoreFailure? {
        let start = Data(bytes)
        guard !start.starts(with: Data("SQLite format 3\0".utf8)) else { return nil }
        if let kind = AtomicFileKind.allCases.first(where: { $0.begins(start) }) {
            return StoreFailure(
                .wrongStoreType, "The file '\(path)' is a store of type \(kind.storeType), not SQLite.")
        }
        if start.starts(with: Data("CoreData".utf8)) {
            return StoreFailure(
                .wrongStoreType,
                "The file '\(path)' is no store of type SQLite, but a binary store of Apple's, whose format is not known here: migrate it to an XML or SQLite store where Apple's Core Data runs."
            )
        }
        let kinds: [(String, [UInt8])] = [
            ("a property list", Array("bplist".utf8)), ("a zip archive", [0x50, 0x4B, 3, 4]),
            ("a gzip file", [0x1F, 0x8B]),
            ("a PDF file", Array("%PDF".utf8)), ("a PNG picture", [0x89, 0x50, 0x4E, 0x47]),
            ("a JPEG picture", [0xFF, 0xD8, 0xFF]), ("XML", Array("<?xml".utf8)),
        ]
        let kind =
            kinds.first { start.starts(with: $0.1) }?.0
            ?? (String(bytes: start.prefix(64), encoding: .utf8)?.allSatisfy { !$0.isASCII || $0.asciiValue ?? 0 >= 9 }
                == true
                ? "text" : nil)
        return kind.map {
            StoreFailure(.notADatabase, "The file '\(path)' is not a database: it is \($0). It is left as it is.")
        }
    }

    /// Returns the cause in the failure, without "cannot be opened".
    private static func reason(_ failure: SQLFailure, _ path: String?) -> Substring {
        let start = "cannot open\(quoted(path)): "
        return failure.message.hasPrefix(start) ? failure.message.dropFirst(start.count) : failure.message[...]
    }

    /// The failure for a missing file, or a file whose existence cannot be checked.
    static func missing(_ path: String?) -> StoreFailure {
        if let path, access(path, F_OK) != 0, errno == EACCES {
            return StoreFailure(
                .unreadable, "Whether there is a store '\(path)' cannot be seen: no permission to look into its folder."
            )
        }
        return StoreFailure(.cannotOpen, "There is no store\(quoted(path)).")
    }

    static func notAStore(_ path: String?, missing: [String]) -> StoreFailure {
        // On a server they have other names.
        let missing = path == nil ? missing.map(SQLNames.readable.stored) : missing
        return StoreFailure(
            .notAStore,
            missing.isEmpty
                ? "The file\(quoted(path)) is empty: there is no store in it."
                : "The database\(quoted(path)) was not made by Core Data: it has no table \(missing.joined(separator: " and no table "))."
        )
    }

    static func quoted(_ path: String?) -> String { path.map { " '\($0)'" } ?? "" }
}
