import CSQLite
import CoreDataSQL

extension SQLiteFunctions {
    /// The numbers of one group.
    private final class Numbers {
        var values: [Double] = []
    }

    static func registerAggregates(on connection: ConnectionState) throws {
        try register(SQLAggregate.median.rawValue, on: connection) {
            SQLiteFunctions.finish($0, SQLiteFunctions.median)
        }
        try register(SQLAggregate.standardDeviation.rawValue, on: connection) {
            SQLiteFunctions.finish($0, SQLiteFunctions.deviation)
        }
        try register(SQLAggregate.mode.rawValue, on: connection) { SQLiteFunctions.finish($0, SQLiteFunctions.mode) }
    }

    private static func register(
        _ name: String, on connection: ConnectionState, _ final: @convention(c) (OpaquePointer?) -> Void
    ) throws {
        let code = sqlite3_create_function_v2(
            connection.database, name, 1, SQLITE_UTF8 | SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC, nil, nil,
            { context, _, arguments in SQLiteFunctions.add(context, arguments?[0]) }, final, nil)
        guard code == SQLITE_OK else { throw SQLFailure.last(of: connection.database, code: code) }
    }

    private static func add(_ context: OpaquePointer?, _ value: OpaquePointer?) {
        let type = sqlite3_value_numeric_type(value)
        guard type == SQLITE_INTEGER || type == SQLITE_FLOAT else { return }
        // SQLite provides a word for each group, initially zero.
        guard let memory = sqlite3_aggregate_context(context, Int32(MemoryLayout<UInt>.size)) else {
            return sqlite3_result_error_nomem(context)
        }
        let slot = memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
        if slot.pointee == nil { slot.pointee = Unmanaged.passRetained(Numbers()).toOpaque() }
        guard let pointer = slot.pointee else { return }
        Unmanaged<Numbers>.fromOpaque(pointer).takeUnretainedValue().values.append(sqlite3_value_double(value))
    }

    private static func finish(_ context: OpaquePointer?, _ result: ([Double]) -> Double) {
        guard let memory = sqlite3_aggregate_context(context, 0),
            let pointer = memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self).pointee
        else { return sqlite3_result_null(context) }
        let numbers = Unmanaged<Numbers>.fromOpaque(pointer).takeRetainedValue()
        sqlite3_result_double(context, result(numbers.values))
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    private static func deviation(_ values: [Double]) -> Double {
        let count = Double(values.count)
        let mean = values.reduce(0, +) / count
        return (values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count).squareRoot()
    }

    private static func mode(_ values: [Double]) -> Double {
        var counts: [Double: Int] = [:]
        for value in values { counts[value, default: 0] += 1 }
        let best = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }
        return best?.key ?? .nan
    }
}
