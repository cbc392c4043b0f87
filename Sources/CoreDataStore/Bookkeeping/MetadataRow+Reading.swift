import CoreDataModel
import CoreDataSQL
import Foundation

// Reads and writes the row in the database.
extension MetadataRow {
    /// - Throws: ``StoreFailure`` of the kind `.lostMetadata` if the row is missing or unreadable.
    package static func read(_ connection: any SQLConnection, path: String? = nil) throws -> MetadataRow {
        guard let row = try found(connection) else { throw noRow(path) }
        try row.check(path)
        return row
    }

    /// Returns the table's row, even if it is unreadable; `nil` if there is none.
    package static func found(_ connection: any SQLConnection) throws -> MetadataRow? {
        // There is one row; if another program added more, the first counts.
        var first = Int64.max
        var found: MetadataRow?
        for row in try connection.rows(query) {
            guard case .integer(let version) = row[0], version < first else { continue }
            first = version
            var identifier = ""
            var plist = Data()
            if case .text(let text) = row[1] { identifier = text }
            switch row[2] {
            case .null: break
            case .blob(let data): plist = data
            // A text is not a property list.
            case .text(let text): plist = Data(text.utf8)
            case .integer, .real: plist = Data([0])
            }
            found = MetadataRow(identifier: identifier, metadata: StoreMetadata(propertyList: plist))
        }
        return found
    }

    /// - Throws: ``StoreFailure`` of the kind `.lostMetadata` if the row does not identify the store, or its dictionary
    ///   cannot be read. A missing dictionary, as in old stores, counts as empty.
    func check(_ path: String?) throws {
        if identifier.isEmpty { throw Self.lost("has no UUID", path) }
        guard metadata.isReadable else {
            throw Self.lost(
                "has \(metadata.propertyList.count) bytes that are no property list where its dictionary should be",
                path)
        }
    }

    static func noRow(_ path: String?) -> StoreFailure { lost("has no row", path) }

    private static func lost(_ reason: String, _ path: String?) -> StoreFailure {
        let table =
            path == nil ? SQLNames.readable.stored(BookkeepingSchema.metadataTable) : BookkeepingSchema.metadataTable
        let recovery = path.map {
            ", or make a new store of its objects: coredata store recover \($0) NEW --model MODEL"
        }
        return StoreFailure(
            .lostMetadata,
            "The store\(StoreFailure.quoted(path)) does not say which store it is and of what model: the table \(table) \(reason). Restore a backup\(recovery ?? "")."
        )
    }

    private static let query = SelectStatement(
        ["Z_VERSION", "Z_UUID", "Z_PLIST"].map { .init(.column(nil, $0)) }, from: .init(BookkeepingSchema.metadataTable)
    )

    /// Writes the user's dictionary, adding the store's required keys and removing the UUID.
    static func write(
        _ metadata: StoreMetadata, in connection: any SQLConnection, path: String? = nil
    ) throws -> MetadataRow {
        let old = try read(connection, path: path)
        var dictionary = metadata.dictionary
        let identifier = dictionary.removeValue(forKey: StoreMetadata.Key.identifier) as? String ?? old.identifier
        let kept = old.metadata.dictionary
        for key in StoreMetadata.Key.kept where dictionary[key] == nil { dictionary[key] = kept[key] }
        for key in StoreMetadata.Key.deferral { dictionary[key] = kept[key] }
        let new = MetadataRow(identifier: identifier, metadata: try StoreMetadata(dictionary: dictionary))
        let update = UpdateStatement(
            BookkeepingSchema.metadataTable,
            set: [
                .init("Z_UUID", .bind(.text(new.identifier))),
                .init("Z_PLIST", .bind(.blob(new.metadata.propertyList))),
            ])
        if try connection.run(update) == 0 { try connection.run(new.insertion(in: connection.dialect)) }
        return new
    }

    /// Returns the statement that inserts the row.
    func insertion(in dialect: SQLDialect) -> InsertStatement {
        InsertStatement(
            into: BookkeepingSchema.metadataTable, columns: ["Z_VERSION", "Z_UUID", "Z_PLIST"],
            rows: [
                [
                    .integer(Self.firstVersion(in: dialect)), .bind(.text(identifier)),
                    .bind(.blob(metadata.propertyList)),
                ]
            ])
    }

    /// A random start value: a program that has a former store at this place open detects by the number that it was
    /// replaced.
    private static func firstVersion(in dialect: SQLDialect) -> Int64 {
        dialect.isRemote ? .random(in: 1...1_000_000_000_000) : 1
    }
}
