import Foundation

/// Makes a segment of states one after another: only their bytes are held.
///
///     var writer = SegmentWriter()
///     for state in states { writer.append(state) }
///     let bytes = writer.bytes(device: device, number: 7, modelHash: hash, seen: seen)     // those of a ``Segment``
package struct SegmentWriter: Sendable {
    private var encoder = StateEncoder(names: NameTable(), hasRuns: false)
    /// The number of states.
    package private(set) var count = 0

    package init() {}

    package mutating func append(_ state: ObjectState) {
        encoder.writer.identifier(state.id)
        encoder.write(state)
        count += 1
    }

    /// Values of new objects of one entity, by the numbers of their names in one segment.
    package struct Columns: Sendable {
        fileprivate let entity: Int
        /// Ascending by number; `place` is the place among an object's values.
        fileprivate let places: [(number: Int, place: Int)]
    }

    /// Numbers the names of an entity's values, for this segment only.
    package mutating func columns(entity: String, _ names: [String]) -> Columns {
        let number = encoder.names.number(of: entity)
        let places = names.enumerated().map { (number: encoder.names.number(of: $1), place: $0) }
        return Columns(entity: number, places: places.sorted { $0.number < $1.number })
    }

    /// Appends the state of a new object, of which all values have one stamp. Values that are `.null` are left out.
    ///
    /// - Parameters:
    ///   - values: those of the columns begin at `start`, in the order of the columns' names.
    package mutating func append(
        new id: GlobalID, _ columns: Columns, _ stamp: Stamp, _ values: [SyncValue], from start: Int
    ) {
        encoder.writer.identifier(id)
        encoder.write(new: columns.entity, columns.places, stamp, values, from: start)
        count += 1
    }

    package func bytes(
        device: DeviceID, number: UInt64, modelHash: Data, seen: VersionVector, nilNames: NilNames = NilNames()
    ) -> Data {
        var list = ByteWriter(reserving: encoder.writer.bytes.count + 10)
        list.varint(count)
        list.raw(encoder.writer.bytes)
        var table = encoder.names
        return StateFile.seal(.segment, device, number, modelHash, seen, &table, list, nilNames)
    }
}

extension StateEncoder {
    fileprivate mutating func write(
        new entity: Int, _ places: [(number: Int, place: Int)], _ stamp: Stamp, _ values: [SyncValue], from start: Int
    ) {
        var count = 0
        for (_, place) in places where !values[start + place].isNull { count += 1 }
        var flags: StateLayout.Flags = [.created, .bornWithCreated, .entityWithCreated]
        if count > 0 { flags.insert(.properties) }
        writer.varint(flags.rawValue)
        writer.varint(entity)
        write(stamp)
        if count == 0 { return }
        writer.varint(count)
        for (number, place) in places where !values[start + place].isNull {
            // The value has the stamp of the creation.
            writer.varint(UInt64(number) << 3 | 1)
            values[start + place].write(to: &writer)
        }
    }
}
