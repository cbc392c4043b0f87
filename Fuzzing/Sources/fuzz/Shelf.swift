import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL
import CoreDataSQLite
import CoreDataStore
import Foundation

/// An object that has every key, for predicates to look into.
final class AnyThing: PredicateObject {
    private let depth: Int

    init(depth: Int = 0) { self.depth = depth }

    func predicateOperand(forKey key: String) throws -> Operand {
        switch key.utf8.first ?? 0 {
        case UInt8(ascii: "n"): return .value(.string("Größe \(key)"))
        case UInt8(ascii: "i"): return .value(.integer(.max))
        case UInt8(ascii: "d"): return .value(.double(-0.5))
        case UInt8(ascii: "m"): return .value(.decimal(Decimal(string: "1e-128") ?? 0))
        case UInt8(ascii: "t"): return .value(.date(1e18))
        case UInt8(ascii: "b") where depth < 4:
            return .collection([.object(AnyThing(depth: depth + 1)), .value(.integer(0)), .null], isOrdered: true)
        case UInt8(ascii: "a") where depth < 4: return .object(AnyThing(depth: depth + 1))
        default: return .null
        }
    }

    func isSamePredicateObject(as other: any PredicateObject) -> Bool { other === self }
    var predicateHash: Int { depth }
    var predicateDescription: String { "thing" }
    func predicateRowKey(inStore identifier: String) -> RowKey? { nil }
}

/// A store of books in memory or in a file.
enum Shelf {
    /// A constant that threads may share.
    struct Shared<Value>: @unchecked Sendable {
        // Safe because one thread runs.
        let value: Value
    }

    static let engine = Shared(value: try? make(at: nil))

    private static let contents = """
        <model userDefinedModelVersionIdentifier="1">
            <entity name="Book"><attribute name="name" attributeType="String"/>
                <attribute name="isbn" attributeType="Integer 64"/><attribute name="data" optional="YES" attributeType="Binary"/>
                <attribute name="date" optional="YES" attributeType="Date"/>
                <attribute name="money" optional="YES" attributeType="Decimal"/>
                <attribute name="id" optional="YES" attributeType="UUID"/>
                <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" inverseName="books" inverseEntity="Author"/>
            </entity>
            <entity name="Novel" parentEntity="Book"/>
            <entity name="Author"><attribute name="name" attributeType="String"/>
                <relationship name="books" toMany="YES" optional="YES" destinationEntity="Book" inverseName="author" inverseEntity="Book"/>
            </entity>
        </model>
        """

    static func make(at path: String?) throws -> StoreEngine {
        let model = try ModelCompiler.compile(ModelReader.document(fromContents: Data(contents.utf8), file: nil))
        var options = StoreOptions(path: path)
        options.createsStore = true
        let engine = try StoreEngine.open(model: model, options: options) { try SQLiteDatabase(SQLiteOptions($0)) }
        try engine.database.write { connection in
            try connection.execute("INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'Le Guin')")
            try connection.execute(
                """
                INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZAUTHOR, ZNAME, ZISBN, ZDATA, ZDATE, ZMONEY, ZID) VALUES \
                (1, 2, 1, 1, 'The Dispossessed', 1, x'0102', 123456789.5, 9.99, x'00112233445566778899aabbccddeeff')
                """)
        }
        return engine
    }
}
