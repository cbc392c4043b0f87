import CoreDataModel
import CoreDataPrimitives
import CoreDataXML
import Foundation

/// Reads the objects of an XML store into a graph.
///
/// What an object says of itself becomes its row at once; which entity a to-one leads to, where a row stands in an ordered
/// to-many and who has it in one without inverse is known when all have been read, and is put into the rows that it concerns.
struct XMLRowReader {
    private let names: XMLNames
    private let path: String
    private let model: CompiledModel
    private var builders: [Int: RowBuilder] = [:]
    /// The rows, by root entity and key.
    private var rows: [RowKey: RowSnapshot] = [:]
    private var toOnes: [(row: RowKey, slot: Int, key: Int64)] = []
    private var toManys: [ToMany] = []

    private struct ToMany {
        var owner: RowKey
        var slot: Int
        var keys: [Int64]
    }

    /// The object that is being read.
    private struct Object {
        var entity: CompiledEntity
        var slots: [String: Int]
        var key: Int64
        var line: Int
    }

    init(model: CompiledModel, entities: [Int], path: String) throws {
        self.model = model
        self.path = path
        names = try XMLNames(model, entities)
    }

    /// Returns the highest id.
    mutating func read(_ data: Data, into graph: inout MemoryGraph) throws -> Int64 {
        do { try parse(data) } catch let failure as XMLFailure { throw XMLStoreFormat.failure(failure, path) }
        let pairs = connect()
        for row in rows.values { graph.put(row) }
        for link in pairs { graph.apply(link) }
        return graph.highestKey
    }

    // MARK: Elements

    private mutating func parse(_ data: Data) throws {
        let reader = try XMLReader(data, isUTF8: true)
        var depth = 0
        var object: Object?
        var property: (tag: XMLTag, text: String)?
        while let event = try reader.next() {
            switch event {
            case .start(let tag):
                depth += 1
                switch (depth, tag.name) {
                case (2, "object"): object = try begin(tag)
                case (3, "attribute"), (3, "relationship"): if object != nil { property = (tag, "") }
                case (3, _) where object != nil:
                    throw failure(tag.line, "<\(tag.name)> is not known in an object")
                case (4, _) where property != nil:
                    throw failure(tag.line, "<\(tag.name)> is not known in a property")
                default: break
                }
            case .text(let text): property?.text += text
            case .end:
                if depth == 3, let found = property, let object {
                    try take(found.tag, found.text, of: object)
                    property = nil
                } else if depth == 2, let finished = object {
                    try finish(finished)
                    object = nil
                }
                depth -= 1
            case .comment: break
            }
        }
    }

    private mutating func begin(_ tag: XMLTag) throws -> Object {
        guard let type = tag["type"], let id = tag["id"] else {
            throw failure(tag.line, "<object> needs a type and an id")
        }
        guard let ordinal = names.entity[type], let slots = names.slot[ordinal] else {
            throw failure(tag.line, "the model has no entity '\(type)' in this store's configuration")
        }
        guard let key = Self.key(id[...]) else { throw failure(tag.line, "'\(id)' is no id of an object") }
        let entity = model.entities[ordinal]
        guard rows[RowKey(entity: entity.root, primaryKey: key)] == nil else {
            throw failure(tag.line, "there is another object '\(id)'")
        }
        if builders[ordinal] == nil { builders[ordinal] = RowBuilder(columnCount: entity.rowLayout.columns.count) }
        return Object(entity: entity, slots: slots, key: key, line: tag.line)
    }

    private mutating func finish(_ object: Object) throws {
        guard let builder = builders[object.entity.ordinal] else { return }
        let row = builder.finish(primaryKey: object.key, version: 1, entity: object.entity.ordinal)
        rows[RowKey(entity: object.entity.root, primaryKey: object.key)] = row
    }

    /// `z102`, or `z7.TAG`, whose name follows from who says it.
    private static func key(_ id: Substring) -> Int64? {
        guard id.first == "z" else { return nil }
        let digits = id.dropFirst().prefix { $0 != "." }
        guard let key = Int64(digits), key > 0 else { return nil }
        return key
    }

    private mutating func take(_ tag: XMLTag, _ text: String, of object: Object) throws {
        guard let name = tag["name"], let slot = object.slots[name] else {
            throw failure(
                tag.line, "entity '\(object.entity.name)' has no property '\(tag["name"] ?? "")'")
        }
        let property = object.entity.properties[slot]
        let what = "\(object.entity.name).\(property.name)"
        switch (property.kind, tag.name) {
        case (.attribute(let attribute), "attribute"):
            try set(text, attribute.type, tag, object.entity.rowLayout.columnOfSlot[slot], object, what)
        case (.relationship(let relationship), "relationship"):
            var keys: [Int64] = []
            for id in (tag["idrefs"] ?? "").split(whereSeparator: \.isWhitespace) {
                guard let key = Self.key(id) else { throw failure(tag.line, "\(what) has '\(id)', which is no id") }
                keys.append(key)
            }
            let row = RowKey(entity: object.entity.root, primaryKey: object.key)
            if relationship.isToMany {
                toManys.append(ToMany(owner: row, slot: slot, keys: keys))
            } else if let key = keys.first {
                guard keys.count == 1 else { throw failure(tag.line, "\(what) leads to one object, not \(keys.count)") }
                let layout = object.entity.rowLayout
                guard let builder = builders[object.entity.ordinal] else { return }
                builder.setInteger(key, at: layout.columnOfSlot[slot])
                if layout.entityColumnOfSlot[slot] >= 0 { toOnes.append((row, slot, key)) }
            }
        default: throw failure(tag.line, "\(what) is written as <\(tag.name)>")
        }
    }

    private func set(
        _ text: String, _ type: AttributeType, _ tag: XMLTag, _ column: Int, _ object: Object, _ what: String
    ) throws {
        guard let builder = builders[object.entity.ordinal], column >= 0 else { return }
        var text = text
        if tag["encoding"] == "base64" {
            guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
                throw failure(tag.line, "\(what) is not in base64")
            }
            text = String(decoding: data, as: UTF8.self)
        }
        let word = type == .string || type == .uri ? "" : text.trimmingCharacters(in: .whitespacesAndNewlines)
        switch type {
        case .boolean, .integer16, .integer32, .integer64, .objectID:
            guard let value = Int64(word) ?? ["true": 1, "false": 0, "yes": 1, "no": 0][word.lowercased()] else {
                break
            }
            return builder.setInteger(value, at: column)
        case .double, .float, .date:
            guard let value = Double(word) else { break }
            return builder.setReal(value, at: column)
        case .decimal:
            guard let value = Decimal(string: word, locale: nil) else { break }
            return builder.setText(value.description, at: column)
        case .string, .uri: return builder.setText(text, at: column)
        case .uuid:
            guard let value = UUID(uuidString: word) else { break }
            return withUnsafeBytes(of: value.uuid) { builder.setBytes($0, at: column) }
        case .undefined, .binaryData, .transformable, .composite:
            guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else { break }
            return data.withUnsafeBytes { builder.setBytes($0, at: column) }
        }
        throw failure(tag.line, "\(what) is '\(word.prefix(40))', which is no \(XMLRowWriter.typeName(type))")
    }

    private func failure(_ line: Int, _ reason: String) -> StoreFailure {
        XMLStoreFormat.damaged(path, "line \(line): \(reason)")
    }

    // MARK: Relationships

    /// The step between two positions in an ordered relationship.
    private static let orderStep: Int64 = 1024

    /// Puts into the rows what follows from others; returns the pairs of many-to-many relationships.
    private mutating func connect() -> [ChangeSet.Link] {
        /// By row: columns and what belongs there.
        var changes: [RowKey: [(column: Int, value: Int64)]] = [:]
        for (row, slot, key) in toOnes {
            guard let own = rows[row],
                let destination = model.entities[own.entity].properties[slot].relationship?.destination
            else { continue }
            let target = rows[RowKey(entity: model.entities[destination].root, primaryKey: key)]?.entity ?? destination
            let column = model.entities[own.entity].rowLayout.entityColumnOfSlot[slot]
            changes[row, default: []].append((column, Int64(target) + 1))
        }
        var pairs = PairCollector(model: model)
        for toMany in toManys {
            guard let owner = rows[toMany.owner],
                let relationship = model.entities[owner.entity].properties[toMany.slot].relationship
            else { continue }
            let property = model.entities[owner.entity].properties[toMany.slot]
            let inverse = model.inverse(of: relationship)
            if let inverse, inverse.relationship?.isToMany == true {
                pairs.add(toMany.keys, of: toMany.owner.primaryKey, property, relationship, inverse, Self.orderStep)
                continue
            }
            let root = model.entities[relationship.destination].root
            for (index, key) in toMany.keys.enumerated() {
                let member = RowKey(entity: root, primaryKey: key)
                guard let row = rows[member] else { continue }
                let layout = model.entities[row.entity].rowLayout
                let order = Int64(index + 1) * Self.orderStep
                if let inverse {
                    let column = layout.columnOfSlot[inverse.slot]
                    // What the member itself says goes before what is said of it.
                    if row.isNull(column) {
                        changes[member, default: []].append((column, toMany.owner.primaryKey))
                        let entityColumn = layout.entityColumnOfSlot[inverse.slot]
                        if entityColumn >= 0 {
                            changes[member, default: []].append((entityColumn, Int64(owner.entity) + 1))
                        }
                    } else if row.integer(column) != toMany.owner.primaryKey {
                        continue
                    }
                    let orderColumn = layout.orderColumnOfSlot[inverse.slot]
                    if orderColumn >= 0 { changes[member, default: []].append((orderColumn, order)) }
                } else {
                    let declaring = property.declaringEntity
                    if let column = layout.column(of: .ownerKey(entity: declaring, slot: toMany.slot)) {
                        changes[member, default: []].append((column, toMany.owner.primaryKey))
                    }
                    if let column = layout.column(of: .ownerOrder(entity: declaring, slot: toMany.slot)) {
                        changes[member, default: []].append((column, order))
                    }
                }
            }
        }
        for (key, columns) in changes { change(key, columns) }
        return pairs.links
    }

    private mutating func change(_ key: RowKey, _ columns: [(column: Int, value: Int64)]) {
        guard let row = rows[key], let builder = builders[row.entity] else { return }
        let kinds = model.entities[row.entity].rowLayout.kinds
        row.withView { view in kinds.withUnsafeBufferPointer { builder.copy(view, kinds: $0) } }
        for (column, value) in columns { builder.setInteger(value, at: column) }
        rows[key] = builder.finish(primaryKey: row.primaryKey, version: row.version, entity: row.entity)
    }
}

/// Makes one pair of what both sides of a many-to-many say.
private struct PairCollector {
    let model: CompiledModel
    private var found: [Side: [Pair: Int]] = [:]
    private(set) var links: [ChangeSet.Link] = []

    private struct Side: Hashable {
        var entity: Int
        var slot: Int
    }

    private struct Pair: Hashable {
        var owner: Int64
        var destination: Int64
    }

    init(model: CompiledModel) { self.model = model }

    mutating func add(
        _ keys: [Int64], of owner: Int64, _ property: CompiledProperty, _ relationship: CompiledRelationship,
        _ inverse: CompiledProperty, _ step: Int64
    ) {
        let own = Side(entity: property.declaringEntity, slot: property.slot)
        let other = Side(entity: inverse.declaringEntity, slot: inverse.slot)
        let isFlipped = (other.entity, other.slot) < (own.entity, own.slot)
        let side = isFlipped ? other : own
        for (index, key) in keys.enumerated() {
            let order = relationship.isOrdered ? Int64(index + 1) * step : nil
            let pair = isFlipped ? Pair(owner: key, destination: owner) : Pair(owner: owner, destination: key)
            if let known = found[side]?[pair] {
                if isFlipped { links[known].inverseOrder = order } else { links[known].order = order }
                continue
            }
            found[side, default: [:]][pair] = links.count
            links.append(
                ChangeSet.Link(
                    .insert, entity: side.entity, slot: side.slot, owner: pair.owner, destination: pair.destination,
                    order: isFlipped ? nil : order, inverseOrder: isFlipped ? order : nil))
        }
    }
}

extension XMLTag {
    subscript(name: String) -> String? { attributes.first { $0.name == name }?.value }
}
