import CPostgreSQL
import CoreDataSQL
import Foundation

/// A statement that a session has prepared: its name, and the types of its parameters and results.
final class PreparedStatement {
    let sql: String
    let name: String
    let parameterTypes: [Oid]
    let columnTypes: [Oid]
    let columnNames: [String]
    /// Whether the session no longer has it.
    var isForgotten = false
    /// See ``makeOfOneRow()``.
    private(set) var ofOneRow: NamedText?

    /// - Parameters:
    ///   - types: the types of the parameters, if the description does not contain them.
    ///   - description: the server's description of the statement.
    init(_ sql: String, name: String, types: [Oid]? = nil, description: OpaquePointer) {
        self.sql = sql
        self.name = name
        parameterTypes = types ?? (0..<PQnparams(description)).map { PQparamtype(description, $0) }
        let columns = 0..<PQnfields(description)
        columnTypes = columns.map { PQftype(description, $0) }
        columnNames = columns.map { column in PQfname(description, column).map { String(cString: $0) } ?? "" }
    }

    /// Returns a variant of the statement that fails unless it changes or returns exactly one row.
    func makeOfOneRow() -> NamedText {
        if let ofOneRow { return ofOneRow }
        let text = NamedText(
            ServerText.together([(sql, parameterTypes.count, true)]), name: name.isEmpty ? "" : name + "one",
            parameterTypes: parameterTypes)
        ofOneRow = text
        return text
    }

    /// Returns the statement as executed: without persistent sessions, the tables and so the result's types may have
    /// changed since it was prepared.
    func of(_ result: QueryResult) -> PreparedStatement {
        guard name.isEmpty else { return self }
        let count = Int(PQnfields(result.pointer))
        if count == columnTypes.count, (0..<count).allSatisfy({ PQftype(result.pointer, Int32($0)) == columnTypes[$0] })
        {
            return self
        }
        return PreparedStatement(sql, name: name, types: parameterTypes, description: result.pointer)
    }
}

/// The result of a query, which is freed with this object.
final class QueryResult {
    let pointer: OpaquePointer
    let rowCount: Int32

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
        rowCount = PQntuples(pointer)
    }

    deinit { PQclear(pointer) }

    /// The number of rows that the statement changed; 0 for one that changes none.
    var changeCount: Int { Self.changeCount(pointer) }

    static func changeCount(_ pointer: OpaquePointer) -> Int {
        // "SELECT 3": returned rows are no changes; an INSERT … RETURNING also returns rows.
        guard let status = PQcmdStatus(pointer), status.pointee != CChar(bitPattern: UInt8(ascii: "S")),
            let text = PQcmdTuples(pointer)
        else { return 0 }
        return Int(strtol(text, nil, 10))
    }
}
