import CSQLite
import CoreDataSQL
import Foundation

/// Sums and averages with the semantics of the evaluation in memory: one number after another.
///
/// SQLite's own functions fail on integer overflow, and compensate the rounding of doubles. SUM and AVG are replaced by
/// name, so that triggers for derived attributes use these too.
extension SQLiteFunctions {
    /// The running total of one group. SQLite provides memory for each group, initially zero.
    private struct Total {
        var count = 0
        var whole: Int64 = 0
        var real = 0.0
        var isReal = false

        mutating func add(_ value: OpaquePointer?) {
            switch sqlite3_value_numeric_type(value) {
            case SQLITE_INTEGER where !isReal:
                let number = sqlite3_value_int64(value)
                let (sum, overflows) = whole.addingReportingOverflow(number)
                if overflows { become(Double(whole) + Double(number)) } else { whole = sum }
            case SQLITE_NULL:
                return
            default:
                become((isReal ? real : Double(whole)) + sqlite3_value_double(value))
            }
            count += 1
        }

        private mutating func become(_ number: Double) {
            isReal = true
            real = number
        }
    }

    /// The running total of the decimals of one group.
    private final class DecimalTotal {
        private var quick: ScaledNumber? = ScaledNumber(0)
        private var exact = Decimal()
        var count = 0

        func add(_ value: OpaquePointer?) {
            guard isNumber(value) else { return }
            count += 1
            if let total = quick, let number = ScaledNumber(value), let sum = total + number {
                quick = sum
                return
            }
            if let total = quick {
                exact = total.decimal
                quick = nil
            }
            exact += decimal(value) ?? .nan
        }

        func setSumResult(_ context: OpaquePointer?) {
            if let quick { setResult(quick, context) } else { setResult(exact, context) }
        }

        func setAverageResult(_ context: OpaquePointer?) {
            setResult((quick?.decimal ?? exact) / Decimal(count), context)
        }
    }

    /// Registers them in place of SQLite's own functions.
    static func registerTotals(on connection: ConnectionState) throws {
        let step: Function = { context, _, arguments in
            SQLiteFunctions.total(context, adds: true)?.pointee.add(arguments?[0])
        }
        try register("SUM", step, on: connection) { context in
            guard let total = SQLiteFunctions.total(context)?.pointee, total.count > 0 else {
                return sqlite3_result_null(context)
            }
            if total.isReal {
                sqlite3_result_double(context, total.real)
            } else {
                sqlite3_result_int64(context, total.whole)
            }
        }
        try register("AVG", step, on: connection) { context in
            guard let total = SQLiteFunctions.total(context)?.pointee, total.count > 0 else {
                return sqlite3_result_null(context)
            }
            sqlite3_result_double(context, (total.isReal ? total.real : Double(total.whole)) / Double(total.count))
        }
    }

    static func registerSums(on connection: ConnectionState) throws {
        let decimalStep: Function = { context, _, arguments in
            SQLiteFunctions.addDecimal(context, arguments?[0])
        }
        try register(SQLAggregate.decimalSum.rawValue, decimalStep, on: connection) { context in
            SQLiteFunctions.finish(context) { $0.setSumResult(context) }
        }
        try register(SQLAggregate.decimalAverage.rawValue, decimalStep, on: connection) { context in
            SQLiteFunctions.finish(context) { $0.setAverageResult(context) }
        }
    }

    private static func register(
        _ name: String, _ step: Function, on connection: ConnectionState,
        _ final: @convention(c) (OpaquePointer?) -> Void
    ) throws {
        let code = sqlite3_create_function_v2(
            connection.database, name, 1, SQLITE_UTF8 | SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC, nil, nil, step, final,
            nil)
        guard code == SQLITE_OK else { throw SQLFailure.last(of: connection.database, code: code) }
    }

    private static func total(_ context: OpaquePointer?, adds: Bool = false) -> UnsafeMutablePointer<Total>? {
        let size = adds ? Int32(MemoryLayout<Total>.size) : 0
        return sqlite3_aggregate_context(context, size)?.assumingMemoryBound(to: Total.self)
    }

    private static func addDecimal(_ context: OpaquePointer?, _ value: OpaquePointer?) {
        guard let memory = sqlite3_aggregate_context(context, Int32(MemoryLayout<UInt>.size)) else {
            return sqlite3_result_error_nomem(context)
        }
        let slot = memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
        let pointer = slot.pointee ?? Unmanaged.passRetained(DecimalTotal()).toOpaque()
        slot.pointee = pointer
        Unmanaged<DecimalTotal>.fromOpaque(pointer).takeUnretainedValue().add(value)
    }

    private static func finish(_ context: OpaquePointer?, _ setResult: (DecimalTotal) -> Void) {
        guard let memory = sqlite3_aggregate_context(context, 0),
            let pointer = memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self).pointee
        else { return sqlite3_result_null(context) }
        let total = Unmanaged<DecimalTotal>.fromOpaque(pointer).takeRetainedValue()
        if total.count > 0 { setResult(total) } else { sqlite3_result_null(context) }
    }
}
