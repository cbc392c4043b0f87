import Foundation
import Measuring
import RawSQLite

/// A connection of the C side, with its result codes as errors.
package final class RawSession {
    package let session: OpaquePointer

    package init(_ url: URL) throws {
        var opened: OpaquePointer?
        let code = raw_open(url.path, &opened)
        guard let opened else { throw MeasuringFailure("SQLite: cannot open \(url.path), code \(code).") }
        session = opened
        try check(code)
    }

    /// Takes over a session that was opened elsewhere.
    package init(_ session: OpaquePointer) { self.session = session }

    deinit { raw_close(session) }

    package func check(_ code: Int32) throws {
        guard code == 0 else {
            throw MeasuringFailure("SQLite: \(String(cString: raw_message(session))), code \(code).")
        }
    }

    package func execute(_ sql: String) throws { try check(raw_exec(session, sql)) }

    /// The columns of the first row, joined by '|'.
    package func text(_ sql: String) throws -> String {
        var text: UnsafeMutablePointer<CChar>?
        let code = raw_row_text(session, sql, &text)
        defer { free(text) }
        try check(code)
        return text.map { String(cString: $0) } ?? ""
    }

    /// Runs one of the reading functions.
    package func digest(_ work: (OpaquePointer, UnsafeMutablePointer<raw_digest>) -> Int32) throws -> Digest {
        var digest = raw_digest()
        try check(work(session, &digest))
        return Digest(digest)
    }
}

extension Digest {
    init(_ digest: raw_digest) {
        self.init(rows: Int(digest.rows), number: digest.number, bytes: Int(digest.bytes))
    }
}
