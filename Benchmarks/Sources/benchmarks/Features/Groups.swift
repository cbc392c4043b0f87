import CoreData
import Foundation
import Measuring
import RawSQLite
import Sides

/// How many items there are of each unit and how much of them, as dictionaries.
struct Groups {
    let rows: Int
    let stores: Stores

    func round(isRaw: Bool) throws -> (seconds: Double, digest: Digest) {
        try stores.prepare(.full, rows: rows)
        let store = try stores.copy(.full, rows: rows, for: "groups")
        defer { try? stores.remove(store) }
        return try isRaw ? statement(store) : request(store)
    }

    private func request(_ store: URL) throws -> (seconds: Double, digest: Digest) {
        let container = try CoreDataSide().open(store)
        let context = container.newBackgroundContext()
        let request = NSFetchRequest<NSDictionary>(entityName: "Item")
        request.resultType = .dictionaryResultType
        request.propertiesToGroupBy = ["unit.name"]
        request.propertiesToFetch = [
            "unit.name", column("count", "count:", "name", .integer64AttributeType),
            column("sum", "sum:", "quantity", .doubleAttributeType),
        ]
        request.sortDescriptors = [NSSortDescriptor(key: "unit.name", ascending: true)]
        let (seconds, digest) = try Stopwatch.time {
            try context.performAndWait {
                var digest = Digest()
                for group in try context.fetch(request) {
                    digest.rows += 1
                    digest.bytes += (group["unit.name"] as? String)?.utf8.count ?? 0
                    digest.number += group["count"] as? Double ?? 0
                    digest.number += group["sum"] as? Double ?? 0
                }
                return digest
            }
        }
        try CoreDataSide.close(container)
        return (seconds, digest)
    }

    private func column(
        _ name: String, _ function: String, _ key: String, _ type: NSAttributeType
    ) -> NSExpressionDescription {
        let column = NSExpressionDescription()
        column.name = name
        column.expression = NSExpression(forFunction: function, arguments: [NSExpression(forKeyPath: key)])
        column.expressionResultType = type
        return column
    }

    private func statement(_ store: URL) throws -> (seconds: Double, digest: Digest) {
        let session = try RawSession(store)
        let (seconds, digest) = try Stopwatch.time {
            // What follows the third column is summed.
            try session.digest {
                raw_sum(
                    $0,
                    """
                    SELECT NULL, NULL, NULL, t1.ZNAME, COUNT(t0.ZNAME), SUM(t0.ZQUANTITY) FROM ZITEM t0
                    LEFT OUTER JOIN ZUNIT t1 ON t1.Z_PK = t0.ZUNIT GROUP BY t1.ZNAME ORDER BY t1.ZNAME
                    """, $1)
            }
        }
        return (seconds, digest)
    }
}
