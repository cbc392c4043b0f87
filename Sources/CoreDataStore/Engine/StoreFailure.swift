import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// Why a store could not be opened, made or read.
package struct StoreFailure: EngineFailure, Sendable {
    package enum Kind: Sendable, Equatable {
        /// The file is no database, or is damaged.
        case notADatabase
        /// The file cannot be opened or made: it does not exist, or permissions forbid it.
        case cannotOpen
        /// Permissions forbid to read the file.
        case unreadable
        /// The store does not say which one it is and of what model.
        case lostMetadata
        /// A database, but not made by Core Data: bookkeeping tables are missing.
        case notAStore
        /// The store says that it is of another type.
        case wrongStoreType
        /// The store's format is newer than what is known here.
        case newerFormat
        /// The store was made with another version of the model.
        case incompatibleModel
        /// Hashes fit, but tables or columns are missing.
        case incompleteSchema
        /// The store has no cached model.
        case noCachedModel
        /// The model has something that no store of this kind can keep.
        case unsupportedModel
        /// The model has no configuration of that name.
        case unknownConfiguration
        /// The operation needs to write.
        case readOnly
    }

    package var kind: Kind
    /// What happened, to what, and what to do about it.
    package var message: String
    package var entity: String?
    package var property: String?
    /// For ``Kind/incompatibleModel``: how store and model differ.
    package var mismatch: ModelMismatch?
    /// For ``Kind/incompleteSchema``: everything that is missing.
    package var missing: [MissingPart] = []
    /// What the database said.
    package var cause: SQLFailure?
    /// The store's metadata and UUID, where they could be read.
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

    /// A table or column that the model expects and the store does not have.
    package struct MissingPart: Hashable, Sendable, CustomStringConvertible {
        package var entity: String
        package var property: String?
        package var table: String
        /// `nil` when the whole table is missing.
        package var column: String?

        /// How the database calls what the engine has other names for; `nil` where they are the same.
        package var names: SQLNames?

        /// Whether it is the entity's number that is missing.
        private var isNumber: Bool { table == BookkeepingSchema.primaryKeyTable && column == "Z_ENT" }

        /// What is missing, in words.
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

/// How the entities of a store's metadata differ from those of a model's configuration, by version hash.
package struct ModelMismatch: Hashable, Sendable {
    /// In the model only.
    package var added: [String] = []
    /// In the store only.
    package var removed: [String] = []
    /// In both, with different hashes.
    package var changed: [String] = []
    /// What changed in them, one sentence each, where the store's cached model tells.
    package var details: [String] = []

    package var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty }

    package var description: String {
        var parts: [String] = []
        if !added.isEmpty { parts.append("only in the model: \(added.joined(separator: ", "))") }
        if !removed.isEmpty { parts.append("only in the store: \(removed.joined(separator: ", "))") }
        if !changed.isEmpty { parts.append("changed: \(changed.joined(separator: ", "))") }
        return (parts + details).joined(separator: "; ")
    }
}

extension StoreFailure {
    /// Runs `body` and says of the database's failures what they mean for a store.
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

    /// Why a file that is no database cannot be a store of type SQLite, where it is known to be something else.
    private static func otherKind(_ path: String, _ bytes: [UInt8]) -> StoreFailure? {
        let start = Data(bytes)
        guard !start.starts(with: Data("SQLite format 3\0".utf8)) else { return nil }
        let formats: [any AtomicFormat.Type] = [XMLStoreFormat.self, BinaryStoreFormat.self]
        if let format = formats.first(where: { $0.begins(start) }) {
            return StoreFailure(
                .wrongStoreType, "The file '\(path)' is a store of type \(format.storeType), not SQLite.")
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

    /// What the failure says beside that the file cannot be opened.
    private static func reason(_ failure: SQLFailure, _ path: String?) -> Substring {
        let start = "cannot open\(quoted(path)): "
        return failure.message.hasPrefix(start) ? failure.message.dropFirst(start.count) : failure.message[...]
    }

    /// There is no file; or whether there is one is not to be seen.
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
