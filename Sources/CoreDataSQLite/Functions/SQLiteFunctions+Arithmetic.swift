import CSQLite
import CoreDataSQL
import Foundation

extension SQLiteFunctions {
    static let arithmetic: [(String, Int32, Function)] = [
        (SQLFunction.power.rawValue, 2, { context, _, arguments in reals(context, arguments, Foundation.pow) }),
        (SQLFunction.squareRoot.rawValue, 1, { context, _, arguments in real(context, arguments) { $0.squareRoot() } }),
        (
            SQLFunction.naturalLogarithm.rawValue, 1,
            { context, _, arguments in real(context, arguments) { $0 > 0 ? Foundation.log($0) : .nan } }
        ),
        (
            SQLFunction.logarithm.rawValue, 1,
            { context, _, arguments in real(context, arguments) { $0 > 0 ? Foundation.log10($0) : .nan } }
        ),
        (
            SQLFunction.exponential.rawValue, 1,
            { context, _, arguments in real(context, arguments) { Foundation.exp($0) } }
        ),
        (SQLFunction.floor.rawValue, 1, { context, _, arguments in rounded(context, arguments, .down) }),
        (SQLFunction.ceiling.rawValue, 1, { context, _, arguments in rounded(context, arguments, .up) }),
        (SQLFunction.truncate.rawValue, 1, { context, _, arguments in rounded(context, arguments, .towardZero) }),
        (SQLFunction.bitwiseXor.rawValue, 2, { context, _, arguments in integers(context, arguments) { $0 ^ $1 } }),
        (SQLFunction.divide.rawValue, 2, { context, _, arguments in divide(context, arguments) }),
        (
            SQLFunction.modulus.rawValue, 2,
            { context, _, arguments in
                integers(context, arguments) {
                    $1 == 0 ? nil : $0.remainderReportingOverflow(dividingBy: $1).partialValue
                }
            }
        ),
        // Swift's smart shifts give 0 or the sign where hardware shifts would wrap around.
        (SQLFunction.leftShift.rawValue, 2, { context, _, arguments in integers(context, arguments) { $0 << $1 } }),
        (SQLFunction.rightShift.rawValue, 2, { context, _, arguments in integers(context, arguments) { $0 >> $1 } }),
        (SQLFunction.random.rawValue, 0, { context, _, _ in sqlite3_result_double(context, .random(in: 0..<1)) }),
        (
            SQLFunction.random.rawValue, 1,
            { context, _, arguments in
                let limit = sqlite3_value_int64(arguments?[0])
                guard limit > 0 else { return sqlite3_result_null(context) }
                sqlite3_result_int64(context, .random(in: 0..<limit))
            }
        ),
        (
            SQLFunction.outOfRange.rawValue, 2,
            { context, _, arguments in
                guard sqlite3_value_type(arguments?[0]) != SQLITE_NULL else { return sqlite3_result_null(context) }
                let message = textArgument(arguments, 1).map { String(decoding: $0, as: UTF8.self) } ?? ""
                sqlite3_result_error(context, message, -1)
                // An error code that SQLite does not use for statements.
                sqlite3_result_error_code(context, SQLITE_RANGE)
            }
        ),
    ]

    private typealias Arguments = UnsafeMutablePointer<OpaquePointer?>?

    static func isNumber(_ value: OpaquePointer?) -> Bool {
        let type = sqlite3_value_numeric_type(value)
        return type == SQLITE_INTEGER || type == SQLITE_FLOAT
    }

    /// NaN is bound as NULL, so a NaN result is NULL too.
    private static func real(_ context: OpaquePointer?, _ arguments: Arguments, _ body: (Double) -> Double) {
        guard isNumber(arguments?[0]) else { return sqlite3_result_null(context) }
        sqlite3_result_double(context, body(sqlite3_value_double(arguments?[0])))
    }

    private static func reals(_ context: OpaquePointer?, _ arguments: Arguments, _ body: (Double, Double) -> Double) {
        guard isNumber(arguments?[0]), isNumber(arguments?[1]) else { return sqlite3_result_null(context) }
        sqlite3_result_double(context, body(sqlite3_value_double(arguments?[0]), sqlite3_value_double(arguments?[1])))
    }

    private static func integers(_ context: OpaquePointer?, _ arguments: Arguments, _ body: (Int64, Int64) -> Int64?) {
        guard isNumber(arguments?[0]), isNumber(arguments?[1]),
            let result = body(sqlite3_value_int64(arguments?[0]), sqlite3_value_int64(arguments?[1]))
        else { return sqlite3_result_null(context) }
        sqlite3_result_int64(context, result)
    }

    private static func rounded(
        _ context: OpaquePointer?, _ arguments: Arguments, _ rule: FloatingPointRoundingRule
    ) {
        switch sqlite3_value_numeric_type(arguments?[0]) {
        case SQLITE_INTEGER: sqlite3_result_int64(context, sqlite3_value_int64(arguments?[0]))
        case SQLITE_FLOAT: sqlite3_result_double(context, sqlite3_value_double(arguments?[0]).rounded(rule))
        default: sqlite3_result_null(context)
        }
    }

    static let replacements: [(String, Int32, Function)] = [
        // SQLite's own function fails for the smallest integer.
        ("abs", 1, { context, _, arguments in absolute(context, arguments) })
    ]

    private static func absolute(_ context: OpaquePointer?, _ arguments: Arguments) {
        switch sqlite3_value_numeric_type(arguments?[0]) {
        case SQLITE_NULL: sqlite3_result_null(context)
        case SQLITE_INTEGER:
            let number = sqlite3_value_int64(arguments?[0])
            if number == .min { return sqlite3_result_double(context, -Double(number)) }
            sqlite3_result_int64(context, abs(number))
        default: sqlite3_result_double(context, sqlite3_value_double(arguments?[0]).magnitude)
        }
    }

    private static func divide(_ context: OpaquePointer?, _ arguments: Arguments) {
        let types = (sqlite3_value_numeric_type(arguments?[0]), sqlite3_value_numeric_type(arguments?[1]))
        if types == (SQLITE_INTEGER, SQLITE_INTEGER) {
            let (a, b) = (sqlite3_value_int64(arguments?[0]), sqlite3_value_int64(arguments?[1]))
            guard b != 0 else { return sqlite3_result_null(context) }
            let (quotient, overflows) = a.dividedReportingOverflow(by: b)
            if overflows { return sqlite3_result_double(context, -Double(a)) }
            sqlite3_result_int64(context, quotient)
        } else {
            reals(context, arguments) { $1 == 0 ? .nan : $0 / $1 }
        }
    }
}
