import CSQLite
import CoreDataSQL
import Foundation

extension SQLFailure {
    /// Returns the failure of a connection's last call.
    static func last(of database: OpaquePointer?, code: Int32, sql: String? = nil) -> SQLFailure {
        let message: String
        if let database, sqlite3_errcode(database) & 0xFF == code & 0xFF {
            message = String(cString: sqlite3_errmsg(database))
        } else {
            message = String(cString: sqlite3_errstr(code))
        }
        // The system's error is more precise than "disk I/O error".
        let isOfSystem = [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xFF) && database != nil
        let number = isOfSystem ? sqlite3_system_errno(database) : 0
        if number == ENOSPC || number == EDQUOT {
            let reason = String(cString: strerror(number))
            return SQLFailure(kind: .full, code: Int(code), message: "\(message): \(reason)", sql: sql)
        }
        var failure = SQLFailure(kind: kind(of: code, message), code: Int(code), message: message, sql: sql)
        if failure.kind == .notADatabase, let database {
            failure.fileStart = SQLiteConnection.start(of: database, count: 512)
        }
        return failure
    }

    private static func kind(of code: Int32, _ message: String) -> Kind {
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: .busy
        case SQLITE_CONSTRAINT: .constraint
        case SQLITE_CORRUPT: .corrupt
        case SQLITE_NOTADB: .notADatabase
        case SQLITE_READONLY: .readOnly
        case SQLITE_FULL: .full
        case SQLITE_CANTOPEN, SQLITE_PERM: .cannotOpen
        case SQLITE_INTERRUPT: .interrupted
        // The code of the function for MATCHES.
        case SQLITE_FORMAT: .pattern
        case SQLITE_RANGE: .computation
        case SQLITE_ERROR where message.hasPrefix("no such table"): .missingTable
        default: .other
        }
    }

    /// Returns a failure for misuse of the driver by the program.
    static func misuse(_ message: String, sql: String? = nil) -> SQLFailure {
        SQLFailure(kind: .other, code: Int(SQLITE_MISUSE), message: message, sql: sql)
    }
}
