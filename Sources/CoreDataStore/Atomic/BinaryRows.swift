import CoreDataModel
import CoreDataPrimitives
import Foundation

/// A column of a binary store, identified by names.
private struct BinaryColumn: Hashable {
    enum Kind: UInt8 {
        case attribute = 0
        case destinationKey = 1
        case destinationEntity = 2
        case order = 3
        case ownerKey = 4
        case ownerOrder = 5
    }

    var kind: Kind
    /// The entity that declares the relationship, for a column in its members' rows; otherwise empty.
    var entity: String
    var property: String

    init(_ role: RowLayout.Role, of entity: CompiledEntity, _ model: CompiledModel) {
        func name(_ slot: Int) -> String { entity.properties[slot].name }
        switch role {
        case .attribute(let slot): self.init(.attribute, "", name(slot))
        case .destinationKey(let slot): self.init(.destinationKey, "", name(slot))
        case .destinationEntity(let slot): self.init(.destinationEntity, "", name(slot))
        case .order(let slot): self.init(.order, "", name(slot))
        case .ownerKey(let owner, let slot):
            self.init(.ownerKey, model.entities[owner].name, model.entities[owner].properties[slot].name)
        case .ownerOrder(let owner, let slot):
            self.init(.ownerOrder, model.entities[owner].name, model.entities[owner].properties[slot].name)
        }
    }

    init(_ kind: Kind, _ entity: String, _ property: String) {
        self.kind = kind
        self.entity = entity
        self.property = property
    }
}

struct BinaryRowWriter {
    private let graph: MemoryGraph
    private let lastKeys: [Int: Int64]
    private let entities: [Int]

    init(_ contents: MemoryContents, _ entities: [Int]) {
        graph = contents.graph
        lastKeys = contents.lastKeys
        self.entities = entities
    }

    func write(to out: inout BinaryOutput) throws {
        let model = graph.model
        // A configuration may contain an entity without its ancestors.
        let roots = Set(entities.map { model.entities[$0].root }).sorted()
        out.put(number: UInt64(entities.count))
        for ordinal in entities {
            let entity = model.entities[ordinal]
            out.put(entity.name)
            out.put(model.entities[entity.root].name)
            out.put(number: UInt64(entity.rowLayout.columns.count))
            for column in entity.rowLayout.columns {
                let named = BinaryColumn(column.role, of: entity, model)
                out.put(byte: named.kind.rawValue)
                out.put(byte: column.kind.rawValue)
                out.put(named.entity)
                out.put(named.property)
            }
        }
        let index = Dictionary(entities.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        out.put(number: UInt64(roots.count))
        for root in roots {
            out.put(model.entities[root].name)
            out.put(signed: max(lastKeys[root] ?? 0, graph.highestKey(root: root)))
            let rows = graph.rows(root: root).sorted { $0.primaryKey < $1.primaryKey }
            out.put(number: UInt64(rows.count))
            for row in rows {
                try put(row, index, to: &out)
                try out.flushIfFull()
            }
        }
        try putPairs(to: &out)
    }

    private func put(_ row: RowSnapshot, _ index: [Int: Int], to out: inout BinaryOutput) throws {
        guard let entity = index[row.entity] else {
            throw StoreFailure(
                .incompleteSchema,
                "A row of entity '\(graph.model.entities[row.entity].name)', which the store does not have.")
        }
        let layout = graph.model.entities[row.entity].rowLayout
        out.put(number: UInt64(entity))
        out.put(signed: row.primaryKey)
        out.put(signed: Int64(row.version))
        var bits: UInt8 = 0
        for column in layout.columns.indices {
            if !row.isNull(column) { bits |= 1 << UInt8(column & 7) }
            if column & 7 == 7 || column == layout.columns.count - 1 {
                out.put(byte: bits)
                bits = 0
            }
        }
        for (column, kind) in layout.kinds.enumerated() where !row.isNull(column) {
            switch kind {
            case .integer:
                // Entity numbers in rows are the model's; the file has its own.
                if case .destinationEntity = layout.columns[column].role {
                    out.put(number: UInt64((index[Int(row.integer(column)) - 1] ?? -1) + 1))
                } else {
                    out.put(signed: row.integer(column))
                }
            case .real: out.put(word: row.word(column))
            case .text, .blob: row.withBytes(column) { out.put($0) }
            }
        }
    }

    private func putPairs(to out: inout BinaryOutput) throws {
        let sides = graph.pairedSides
        out.put(number: UInt64(sides.count))
        for (entity, slot) in sides {
            out.put(graph.model.entities[entity].name)
            out.put(graph.model.entities[entity].properties[slot].name)
            var pairs: [(Int64, Int64, Int64?, Int64?)] = []
            graph.forEachPair(entity: entity, slot: slot) { pairs.append(($0, $1, $2, $3)) }
            out.put(number: UInt64(pairs.count))
            for (owner, destination, order, inverseOrder) in pairs {
                out.put(signed: owner)
                out.put(signed: destination)
                out.put(byte: (order == nil ? 0 : 1) | (inverseOrder == nil ? 0 : 2))
                if let order { out.put(signed: order) }
                if let inverseOrder { out.put(signed: inverseOrder) }
                try out.flushIfFull()
            }
        }
    }
}

struct BinaryRowReader {
    private let model: CompiledModel
    /// By the file's entity numbers: the model's ordinals, and the position in the row of each of the file's columns.
    private var entities: [(ordinal: Int, columns: [Column])] = []
    private var builders: [RowBuilder] = []

    private struct Column {
        var index: Int
        var kind: ColumnKind
        var isEntity: Bool
    }

    init(_ bytes: inout BinaryBytes, _ model: CompiledModel, _ known: Set<Int>) throws {
        self.model = model
        for _ in 0..<(try bytes.count()) {
            let name = try bytes.text()
            guard let entity = model.entity(named: name), known.contains(entity.ordinal) else {
                throw bytes.failure("the model has no entity '\(name)' in this store's configuration")
            }
            let root = try bytes.text()
            guard model.entities[entity.root].name == root else {
                throw bytes.failure("entity '\(name)' is below '\(root)', which it is not in the model")
            }
            var own: [BinaryColumn: Int] = [:]
            for (index, column) in entity.rowLayout.columns.enumerated() {
                own[BinaryColumn(column.role, of: entity, model)] = index
            }
            var columns: [Column] = []
            for _ in 0..<(try bytes.count()) {
                let (tag, kind) = (try bytes.byte(), try bytes.byte())
                guard let tag = BinaryColumn.Kind(rawValue: tag), let kind = ColumnKind(rawValue: kind) else {
                    throw bytes.failure("a column of entity '\(name)' is of no known kind")
                }
                let column = BinaryColumn(tag, try bytes.text(), try bytes.text())
                guard let index = own[column], entity.rowLayout.kinds[index] == kind else {
                    throw bytes.failure("entity '\(name)' has no such property '\(column.property)'")
                }
                columns.append(Column(index: index, kind: kind, isEntity: tag == .destinationEntity))
            }
            entities.append((entity.ordinal, columns))
            builders.append(RowBuilder(columnCount: entity.rowLayout.columns.count))
        }
    }

    mutating func readRows(_ bytes: inout BinaryBytes, into contents: inout MemoryContents) throws {
        for _ in 0..<(try bytes.count()) {
            let name = try bytes.text()
            guard let root = model.entity(named: name)?.ordinal else {
                throw bytes.failure("there is no entity '\(name)'")
            }
            contents.lastKeys[root] = try bytes.signed()
            for _ in 0..<(try bytes.count()) {
                let row = try row(&bytes)
                guard model.entities[row.entity].root == root else { throw bytes.failure("a row is among others") }
                contents.graph.put(row)
            }
        }
    }

    private func row(_ bytes: inout BinaryBytes) throws -> RowSnapshot {
        let number = try bytes.number()
        guard number < UInt64(entities.count) else { throw bytes.failure("a row is of no entity") }
        let (ordinal, columns) = entities[Int(number)]
        let builder = builders[Int(number)]
        let key = try bytes.signed()
        guard key > 0, let version = Int32(exactly: try bytes.signed()) else { throw bytes.failure("a row has no key") }
        let present = try bytes.slice((columns.count + 7) / 8)
        for (position, column) in columns.enumerated() where present[position >> 3] & (1 << UInt8(position & 7)) != 0 {
            switch column.kind {
            case .integer where column.isEntity:
                let number = try bytes.number()
                guard number <= UInt64(entities.count) else { throw bytes.failure("a row leads to no entity") }
                builder.setInteger(number == 0 ? 0 : Int64(entities[Int(number) - 1].ordinal) + 1, at: column.index)
            case .integer: builder.setInteger(try bytes.signed(), at: column.index)
            case .real: builder.setReal(Double(bitPattern: try bytes.word()), at: column.index)
            case .text, .blob: builder.setBytes(try bytes.slice(), at: column.index)
            }
        }
        return builder.finish(primaryKey: key, version: version, entity: ordinal)
    }

    func readPairs(_ bytes: inout BinaryBytes, into graph: inout MemoryGraph) throws {
        for _ in 0..<(try bytes.count()) {
            let (name, property) = (try bytes.text(), try bytes.text())
            guard let entity = model.entity(named: name), let slot = entity.slotByName[property],
                entity.properties[slot].relationship?.isToMany == true
            else { throw bytes.failure("'\(name)' has no relationship '\(property)'") }
            for _ in 0..<(try bytes.count()) {
                let (owner, destination, flags) = (try bytes.signed(), try bytes.signed(), try bytes.byte())
                let order = flags & 1 != 0 ? try bytes.signed() : nil
                let inverseOrder = flags & 2 != 0 ? try bytes.signed() : nil
                graph.apply(
                    ChangeSet.Link(
                        .insert, entity: entity.properties[slot].declaringEntity, slot: slot, owner: owner,
                        destination: destination, order: order, inverseOrder: inverseOrder))
            }
        }
    }
}

/// The number of rows of each entity in a binary store, read without a model.
struct BinaryRowCounts {
    private(set) var counts: [String: Int] = [:]

    private struct Entity {
        var name: String
        var columns: [(kind: ColumnKind, isEntity: Bool)] = []
    }

    init(_ bytes: inout BinaryBytes) throws {
        var entities: [Entity] = []
        for _ in 0..<(try bytes.count()) {
            var entity = Entity(name: try bytes.text())
            // Skip the root's name.
            _ = try bytes.text()
            for _ in 0..<(try bytes.count()) {
                let (tag, kind) = (try bytes.byte(), try bytes.byte())
                guard let kind = ColumnKind(rawValue: kind) else {
                    throw bytes.failure("a column of entity '\(entity.name)' is of no known kind")
                }
                entity.columns.append((kind, tag == BinaryColumn.Kind.destinationEntity.rawValue))
                for _ in 0..<2 { _ = try bytes.slice() }
            }
            entities.append(entity)
            counts[entity.name] = 0
        }
        for _ in 0..<(try bytes.count()) {
            _ = try bytes.slice()
            _ = try bytes.signed()
            for _ in 0..<(try bytes.count()) {
                let number = try bytes.number()
                guard number < UInt64(entities.count) else { throw bytes.failure("a row is of no entity") }
                let entity = entities[Int(number)]
                try Self.skipRow(of: entity, &bytes)
                counts[entity.name, default: 0] += 1
            }
        }
    }

    private static func skipRow(of entity: Entity, _ bytes: inout BinaryBytes) throws {
        // Skip key and version.
        for _ in 0..<2 { _ = try bytes.signed() }
        let present = try bytes.slice((entity.columns.count + 7) / 8)
        for (position, column) in entity.columns.enumerated()
        where present[position >> 3] & (1 << UInt8(position & 7)) != 0 {
            switch column.kind {
            case .integer where column.isEntity: _ = try bytes.number()
            case .integer: _ = try bytes.signed()
            case .real: _ = try bytes.word()
            case .text, .blob: _ = try bytes.slice()
            }
        }
    }
}
