import CPostgreSQL
import CoreDataSQL
import Foundation

/// A statement that a session has prepared: its name there, and what it takes and gives.
final class PreparedStatement {
    let sql: String
    let name: String
    let parameterTypes: [Oid]
    let columnTypes: [Oid]
    let columnNames: [String]
    /// Whether the session has forgotten it.
    var isForgotten = false
    /// See ``makeOfOneRow()``.
    private(set) var ofOneRow: NamedText?

    /// - Parameters:
    ///   - types: of the parameters, where the description does not tell them.
    ///   - description: what the server says of the statement.
    init(_ sql: String, name: String, types: [Oid]? = nil, description: OpaquePointer) {
        self.sql = sql
        self.name = name
        parameterTypes = types ?? (0..<PQnparams(description)).map { PQparamtype(description, $0) }
        let columns = 0..<PQnfields(description)
        columnTypes = columns.map { PQftype(description, $0) }
        columnNames = columns.map { column in PQfname(description, column).map { String(cString: $0) } ?? "" }
    }

    /// The statement as it fails where it changes or gives another number of rows than one.
    func makeOfOneRow() -> NamedText {
        if let ofOneRow { return ofOneRow }
        let text = NamedText(
            ServerText.together([(sql, parameterTypes.count, true)]), name: name.isEmpty ? "" : name + "one",
            parameterTypes: parameterTypes)
        ofOneRow = text
        return text
    }

    /// The statement as it was run: a text that no session keeps may give something else than when it was taken apart, if the tables are others now.
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

/// What a query gave; freed with this.
final class QueryResult {
    let pointer: OpaquePointer
    let rowCount: Int32

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
        rowCount = PQntuples(pointer)
    }

    deinit { PQclear(pointer) }

    /// How many rows the statement changed, 0 for one that changes none.
    var changeCount: Int { Self.changeCount(pointer) }

    static func changeCount(_ pointer: OpaquePointer) -> Int {
        // "SELECT 3": what it gives is no change; an INSERT … RETURNING gives rows, too.
        guard let status = PQcmdStatus(pointer), status.pointee != CChar(bitPattern: UInt8(ascii: "S")),
            let text = PQcmdTuples(pointer)
        else { return 0 }
        return Int(strtol(text, nil, 10))
    }
}
