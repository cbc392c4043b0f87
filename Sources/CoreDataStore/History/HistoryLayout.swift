import CoreDataModel
import CoreDataPrimitives
import Foundation

/// The positions of an entity's properties in the bits of `ZCOLUMNS`, and the attributes that tombstones keep.
///
/// ```
/// to-ones, each with its companion | attributes | to-manys
/// ```
/// In each part, ancestors' properties come first, and those of one entity are sorted by name. The first bit is the
/// most significant one of the first byte.
struct HistoryLayout: Sendable {
    /// The bit of each slot; -1 if nothing is stored.
    let bitOfSlot: [Int]
    /// The bit of each column of the row; -1 for order values.
    let bitOfColumn: [Int]
    let byteCount: Int
    /// The attributes that a tombstone keeps, in the order of its columns.
    let tombstones: [Int]

    init(_ entity: CompiledEntity, in model: CompiledModel, hasCompanion: (_ column: Int) -> Bool) {
        let layout = entity.rowLayout
        var bitOfSlot = [Int](repeating: -1, count: entity.properties.count)
        var bitOfColumn = [Int](repeating: -1, count: layout.columns.count)
        let properties = Self.ordered(entity, in: model)
        var next = 0
        for property in properties where property.relationship?.isToMany == false {
            bitOfSlot[property.slot] = next
            bitOfColumn[layout.columnOfSlot[property.slot]] = next
            next += 1
            let companion = layout.entityColumnOfSlot[property.slot]
            guard companion >= 0, hasCompanion(companion) else { continue }
            bitOfColumn[companion] = next
            next += 1
        }
        for property in properties where property.attribute != nil {
            bitOfSlot[property.slot] = next
            let column = layout.columnOfSlot[property.slot]
            // An attribute without a type has no column.
            if column >= 0 { bitOfColumn[column] = next }
            next += 1
        }
        for property in properties where property.relationship?.isToMany == true {
            bitOfSlot[property.slot] = next
            next += 1
        }
        self.bitOfSlot = bitOfSlot
        self.bitOfColumn = bitOfColumn
        byteCount = (next + 7) / 8
        tombstones = Self.tombstones(of: entity)
    }

    /// Returns the attributes that tombstones keep: by name, then the elements of kept composite attributes, by path.
    ///
    ///     title (kept), address (kept), address.zip     // title, address.city, address.zip
    ///
    /// An element that the model keeps by itself is among the attributes. A model may start to keep a composite without
    /// a migration, since version hashes do not include that: the values of older tombstones stay in their columns.
    static func tombstones(of entity: CompiledEntity) -> [Int] {
        func slots(_ isIncluded: (CompiledProperty) -> Bool) -> [Int] {
            entity.properties.filter { isIncluded($0) && !$0.isTransient }
                .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
                .map(\.slot)
        }
        let own = slots(keeps)
        guard entity.properties.contains(where: { $0.isComposite && keeps($0) }) else { return own }
        return own + slots { !keeps($0) && isInKeptComposite($0, of: entity) }
    }

    private static func keeps(_ property: CompiledProperty) -> Bool {
        property.attribute?.preservesValueInHistoryOnDeletion == true
    }

    private static func isInKeptComposite(_ property: CompiledProperty, of entity: CompiledEntity) -> Bool {
        var enclosing = property.composite
        while let composite = enclosing.map({ entity.properties[$0] }) {
            if keeps(composite) { return true }
            enclosing = composite.composite
        }
        return false
    }

    /// Returns the stored properties, ancestors' first, by name in each entity.
    private static func ordered(_ entity: CompiledEntity, in model: CompiledModel) -> [CompiledProperty] {
        var chain: [Int] = []
        var current: Int? = entity.ordinal
        while let ordinal = current {
            chain.insert(ordinal, at: 0)
            current = model.entities[ordinal].parent
        }
        return chain.flatMap { ordinal in
            entity.properties
                .filter { property in
                    if case .fetched = property.kind { return false }
                    return property.declaringEntity == ordinal && !property.isTransient
                }
                .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        }
    }

    /// Returns the bits of the row's changed columns and of the to-manys whose members changed.
    func bits(columns: IndexMask, members: IndexMask) -> Data {
        var bytes = Data(count: byteCount)
        func set(_ bit: Int) {
            if bit >= 0 { bytes[bit >> 3] |= 0x80 >> UInt8(bit & 7) }
        }
        for column in columns { set(bitOfColumn[column]) }
        for slot in members { set(bitOfSlot[slot]) }
        return bytes
    }

    /// Returns the slots whose bits are set.
    func slots(in bits: Data) -> [Int] {
        let bytes = [UInt8](bits)
        return bitOfSlot.indices.filter { slot in
            let bit = bitOfSlot[slot]
            return bit >= 0 && bit >> 3 < bytes.count && bytes[bit >> 3] & (0x80 >> UInt8(bit & 7)) != 0
        }
    }
}
