import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Counts and checksums of a source's rows, independent of their order: used to verify a copy.
///
///     try RowDigest(of: old, model: model, keepsKeys: true) == RowDigest(of: new, model: model, keepsKeys: true)
///
/// Values are normalised to what every store can keep: dates in microseconds, NaN as nil. Derived attributes and
/// versions are excluded, since each store has its own.
package struct RowDigest: Hashable, Sendable {
    package struct Sum: Hashable, Sendable {
        package var count = 0
        package var checksum: UInt64 = 0

        fileprivate mutating func add(_ hash: UInt64) {
            count += 1
            checksum &+= hash
        }
    }

    /// The sums by entity name, of every entity that is not abstract.
    package private(set) var entities: [String: Sum] = [:]
    /// The sums of many-to-many relationships by `Entity.relationship`; without checksums if keys are excluded.
    package private(set) var relationships: [String: Sum] = [:]

    /// - Parameter keepsKeys: whether to include keys; false if one of the stores has assigned its own.
    package init(of source: any RowSource, model: CompiledModel, keepsKeys: Bool) throws {
        for entity in model.entities where source.includes(entity: entity.ordinal) {
            if !entity.isAbstract {
                let reader = RowHasher(source: source, model: model, entity: entity, keepsKeys: keepsKeys)
                var sum = Sum()
                try source.forEachRow(of: entity.ordinal) { rows in
                    for index in rows.indices { sum.add(try reader.hash(rows[index])) }
                }
                entities[entity.name] = sum
            }
            for property in entity.properties where property.declaringEntity == entity.ordinal {
                guard RowCopy.pairs(of: property, model) != nil else { continue }
                relationships["\(entity.name).\(property.name)"] = try Self.pairs(
                    of: property, source, model, keepsKeys: keepsKeys)
            }
        }
    }

    private static func pairs(
        of property: CompiledProperty, _ source: any RowSource, _ model: CompiledModel, keepsKeys: Bool
    ) throws -> Sum {
        var sum = Sum()
        guard let relationship = property.relationship else { return sum }
        try source.forEachOwner(of: property, in: model) { owners in
            for (owner, destinations) in owners {
                for (index, destination) in destinations.enumerated() {
                    var hash = StableHash()
                    if keepsKeys {
                        hash.add(UInt64(bitPattern: owner))
                        hash.add(UInt64(bitPattern: destination))
                        if relationship.isOrdered { hash.add(UInt64(index)) }
                    }
                    sum.add(hash.value)
                }
            }
        }
        return sum
    }

    /// Returns the differences, one line each.
    package func differences(from other: RowDigest) -> [String] {
        func compare(_ mine: [String: Sum], _ others: [String: Sum], _ what: String) -> [String] {
            Set(mine.keys).union(others.keys).sorted().compactMap { name in
                let (a, b) = (mine[name] ?? Sum(), others[name] ?? Sum())
                if a.count != b.count { return "\(name): \(a.count) \(what), and \(b.count) in the copy" }
                return a == b ? nil : "\(name): as many \(what) in both, with other values"
            }
        }
        return compare(entities, other.entities, "objects") + compare(relationships, other.relationships, "links")
    }

    /// A short text that differs if the digests differ.
    package var text: String {
        var hash = StableHash()
        for (name, sum) in (Array(entities) + Array(relationships)).sorted(by: { $0.key < $1.key }) {
            for byte in name.utf8 { hash.add(byte) }
            hash.add(UInt64(sum.count))
            hash.add(sum.checksum)
        }
        return "\(objectCount) objects, \(linkCount) links, \(String(hash.value, radix: 36))"
    }

    package var objectCount: Int { entities.values.reduce(0) { $0 + $1.count } }
    package var linkCount: Int { relationships.values.reduce(0) { $0 + $1.count } }
}

/// A hash that is the same on every machine: FNV-1a with a final mixing step, so that sums of hashes distinguish rows.
private struct StableHash {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ byte: UInt8) { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }

    mutating func add(_ word: UInt64) {
        state = (state ^ word) &* 0x9E37_79B9_7F4A_7C15
        state ^= state >> 32
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        add(UInt64(bytes.count))
        for byte in bytes { add(byte) }
    }

    var value: UInt64 {
        var z = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Hashes the rows of an entity.
private struct RowHasher {
    private let source: any RowSource
    private let entity: CompiledEntity
    private let keepsKeys: Bool
    private let columns: [(index: Int, kind: ColumnKind, meaning: Meaning)]

    private enum Meaning {
        case plain
        case date
        case decimal
        /// A value that may be in an external file.
        case external
        case key
        case entity
    }

    init(source: any RowSource, model: CompiledModel, entity: CompiledEntity, keepsKeys: Bool) {
        (self.source, self.entity, self.keepsKeys) = (source, entity, keepsKeys)
        let layout = entity.rowLayout
        columns = layout.columns.enumerated().compactMap { index, column in
            let meaning: Meaning
            switch column.role {
            case .attribute(let slot):
                guard let attribute = entity.properties[slot].attribute, attribute.derivationExpression == nil else {
                    return nil
                }
                switch attribute.type.kind {
                case .date: meaning = .date
                case .decimal: meaning = .decimal
                default: meaning = attribute.allowsExternalBinaryDataStorage ? .external : .plain
                }
            case .destinationKey, .ownerKey: meaning = .key
            case .destinationEntity: meaning = .entity
            // If rows get other keys, they may get other positions too, in the same order.
            case .order, .ownerOrder:
                guard keepsKeys else { return nil }
                meaning = .plain
            }
            return (index, column.kind, meaning)
        }
    }

    func hash(_ row: RowSnapshot) throws -> UInt64 {
        var hash = StableHash()
        if keepsKeys { hash.add(UInt64(bitPattern: row.primaryKey)) }
        for (index, kind, meaning) in columns {
            if row.isUnreadable(index) {
                // Throws with the reason.
                _ = try row.withBytes(index) { try source.bytes(ofStored: $0) }
            }
            guard !row.isNull(index) else {
                hash.add(UInt8(0))
                continue
            }
            switch (meaning, kind) {
            case (.key, _): hash.add(keepsKeys ? UInt64(bitPattern: row.integer(index)) : 1)
            case (.entity, _): hash.add(UInt64(source.entity(numbered: row.integer(index)) ?? -1 &+ 2))
            case (_, .integer): hash.add(UInt64(bitPattern: row.integer(index)))
            case (.date, .real):
                let seconds = row.real(index)
                hash.add(Microseconds(seconds).map { UInt64(bitPattern: $0.count) } ?? seconds.bitPattern)
            case (_, .real):
                let value = row.real(index)
                // Databases store neither NaN nor a negative zero.
                if value.isNaN { hash.add(UInt8(0)) } else { hash.add(value == 0 ? 0 : value.bitPattern) }
            case (.decimal, .text):
                var text = row.text(index)
                text = Decimal(string: text)?.description ?? text
                text.withUTF8 { hash.add(UnsafeRawBufferPointer($0)) }
            case (_, .text), (_, .blob): row.withBytes(index) { hash.add($0) }
            }
        }
        return hash.value
    }
}
