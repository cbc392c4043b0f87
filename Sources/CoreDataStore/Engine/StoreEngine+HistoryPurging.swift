import CoreDataSQL
import Foundation

// Purges the history, after checking its consumers. The consumers' names and positions are in the store's metadata, so
// that a copy of the store includes them.
extension StoreEngine {
    package func deleteHistory(before number: Int64) throws -> Int {
        try write { try deleteHistory(before: number, $0) }
    }

    private func deleteHistory(before number: Int64, _ connection: any SQLConnection) throws -> Int {
        let bound = SQLExpression.bind(.integer(number))
        try connection.run(
            DeleteStatement(
                from: BookkeepingSchema.changeTable,
                where: .comparison(.less, .column(nil, "ZTRANSACTIONID"), bound)))
        return try connection.run(
            DeleteStatement(
                from: BookkeepingSchema.transactionTable, where: .comparison(.less, .column(nil, "Z_PK"), bound)))
    }

    package func deleteHistory(_ numbers: [Int64]) throws -> Int {
        try write { connection in
            var count = 0
            for start in stride(from: 0, to: numbers.count, by: Self.numbersPerStatement) {
                let some = numbers[start..<min(start + Self.numbersPerStatement, numbers.count)]
                let values = some.map { SQLExpression.bind(.integer($0)) }
                try connection.run(
                    DeleteStatement(
                        from: BookkeepingSchema.changeTable, where: .inList(.column(nil, "ZTRANSACTIONID"), values)))
                count += try connection.run(
                    DeleteStatement(
                        from: BookkeepingSchema.transactionTable, where: .inList(.column(nil, "Z_PK"), values)))
            }
            return count
        }
    }

    /// Databases limit the number of bound values in a statement.
    private static let numbersPerStatement = 500

    package func historyReaders() throws -> [HistoryReader] {
        try database.read { Self.readers(in: try MetadataRow.read($0).metadata) }
    }

    package func noteHistoryReader(_ name: String, position: Int64) throws {
        try changeReaders { readers in
            let known = readers.first { $0.name == name }
            readers.removeAll { $0.name == name }
            readers.append(
                HistoryReader(name: name, position: max(position, known?.position ?? position), time: clock.now))
        }
    }

    package func removeHistoryReader(_ name: String) throws -> Bool {
        try changeReaders { readers in
            let count = readers.count
            readers.removeAll { $0.name == name }
            return readers.count < count
        }
    }

    package func purgeHistory(olderThan time: Double?, keepingAtMost count: Int?) throws -> HistoryPurgeOutcome {
        try write { connection in
            let extent = try historyExtent(connection)
            let readers = Self.readers(in: try MetadataRow.read(connection).metadata)
            // Without registered consumers, the whole history counts as unread.
            var first = readers.map(\.position).min().map { $0 + 1 } ?? extent.first ?? extent.last + 1
            if let time { first = max(first, try firstHistoryTransaction(since: time, connection)) }
            if let count { first = max(first, extent.last + 1 - Int64(clamping: max(0, count))) }
            let oldest = extent.first ?? extent.last + 1
            // Transactions that were purged earlier do not count as a loss now.
            let cutOff = first > oldest ? readers.filter { $0.position + 1 < first } : []
            return HistoryPurgeOutcome(
                deletedTransactions: first > oldest ? try deleteHistory(before: first, connection) : 0,
                firstKept: max(first, oldest), cutOff: cutOff)
        }
    }

    // MARK: Metadata

    @discardableResult
    private func changeReaders<R>(_ change: (inout [HistoryReader]) throws -> R) throws -> R {
        try write { connection in
            let row = try MetadataRow.read(connection)
            var readers = Self.readers(in: row.metadata)
            let result = try change(&readers)
            var dictionary = row.metadata.dictionary
            dictionary[StoreMetadata.Key.historyReaders] =
                readers.isEmpty
                ? nil
                : Dictionary(
                    readers.map {
                        ($0.name, ["position": NSNumber(value: $0.position), "time": NSNumber(value: $0.time)])
                    },
                    uniquingKeysWith: { $1 })
            let metadata = try StoreMetadata(dictionary: dictionary)
            try connection.run(
                UpdateStatement(
                    BookkeepingSchema.metadataTable, set: [.init("Z_PLIST", .bind(.blob(metadata.propertyList)))]))
            return result
        }
    }

    private static func readers(in metadata: StoreMetadata) -> [HistoryReader] {
        let entries = metadata.dictionary[StoreMetadata.Key.historyReaders] as? [String: Any] ?? [:]
        return entries.compactMap { name, value -> HistoryReader? in
            guard let fields = value as? [String: Any], let position = fields["position"] as? NSNumber else {
                return nil
            }
            return HistoryReader(
                name: name, position: position.int64Value, time: (fields["time"] as? NSNumber)?.doubleValue ?? 0)
        }.sorted { $0.name < $1.name }
    }
}
