import CoreDataSyncEngine
import Foundation

/// What apply is about to write, as the sidecar keeps it until the stamps are written.
struct BegunApply {
    struct NewObject: Hashable {
        var id: GlobalID
        var root: String
        var key: Int64
    }

    var inserted: [NewObject]
    private(set) var intended: IntendedChanges

    init(inserted: [NewObject], intended: IntendedChanges) {
        (self.inserted, self.intended) = (inserted, intended)
    }

    // MARK: Bytes

    /// The first byte. Thousands of objects as JSON would take longer than to save them.
    private static let version: UInt8 = 1

    var data: Data {
        var names = Set(intended.deleted.map(\.root) + intended.updated.keys.map(\.root))
        // Objects of one hierarchy come one after another.
        var last: (root: String, number: Int)?
        for object in inserted where object.root != last?.root {
            names.insert(object.root)
            last = (object.root, 0)
        }
        last = nil
        let roots = names.sorted()
        let numbers = Dictionary(roots.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        var writer = ByteWriter(reserving: 24 * inserted.count + 256)
        func write(_ root: String, _ key: Int64) {
            let number = last?.root == root ? last?.number ?? 0 : numbers[root] ?? 0
            last = (root, number)
            writer.varint(number)
            writer.signed(key)
        }
        writer.byte(Self.version)
        writer.varint(roots.count)
        for root in roots { writer.string(root) }
        writer.varint(inserted.count)
        for object in inserted {
            writer.identifier(object.id)
            write(object.root, object.key)
        }
        writer.varint(intended.deleted.count)
        for object in intended.deleted { write(object.root, object.key) }
        writer.varint(intended.updated.count)
        for (object, names) in intended.updated {
            write(object.root, object.key)
            writer.varint(names.count)
            for name in names.sorted() { writer.string(name) }
        }
        return writer.asData
    }

    init(_ data: Data) throws {
        var reader = ByteReader(data)
        guard try reader.byte() == Self.version else { throw reader.fault("its version is not known") }
        var roots: [String] = []
        for _ in 0..<(try reader.count()) { roots.append(try reader.string()) }
        func object(_ reader: inout ByteReader) throws -> ObjectKey {
            let root = roots[try reader.number(below: roots.count, "the number of an entity")]
            return ObjectKey(root: root, key: try reader.signed())
        }
        inserted = []
        intended = IntendedChanges()
        for _ in 0..<(try reader.count(ofSize: 18)) {
            let id = try reader.identifier()
            let key = try object(&reader)
            inserted.append(NewObject(id: id, root: key.root, key: key.key))
            intended.inserted.insert(key.key, key.root)
        }
        for _ in 0..<(try reader.count(ofSize: 2)) { intended.deleted.insert(try object(&reader)) }
        for _ in 0..<(try reader.count(ofSize: 3)) {
            let key = try object(&reader)
            for _ in 0..<(try reader.count()) { intended.insertUpdate(key, try reader.string()) }
        }
        try reader.finish()
    }
}
