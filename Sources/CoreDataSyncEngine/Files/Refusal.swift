/// A change of a device that a service did not take, with the value that the object has instead.
///
/// A service that checks permissions writes refusals into its segments. The device that made the change notes them in
/// its journal; other devices ignore them.
///
///     let refusal = Refusal(
///         device: device, object: id, entity: "Item", property: "price", reason: "refused",
///         losing: .init(stamp: stamp, value: .integer(1)), winning: .init(stamp: later, value: .integer(2)))
package struct Refusal: Hashable, Sendable {
    package struct Side: Hashable, Sendable {
        package var stamp: Stamp
        package var value: SyncValue

        package init(stamp: Stamp, value: SyncValue) { (self.stamp, self.value) = (stamp, value) }
    }

    /// The device that made the change.
    package var device: DeviceID
    package var object: GlobalID
    package var entity: String
    /// Empty for the deletion of the object.
    package var property: String
    /// The reason, as the journal has it.
    package var reason: String
    package var losing: Side
    /// `.stored` for an object that does not exist.
    package var winning: Side

    package init(
        device: DeviceID, object: GlobalID, entity: String, property: String, reason: String, losing: Side,
        winning: Side
    ) {
        self.device = device
        (self.object, self.entity, self.property, self.reason) = (object, entity, property, reason)
        (self.losing, self.winning) = (losing, winning)
    }
}

// MARK: Bytes

extension Refusal {
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        write(to: &writer)
        return writer.bytes
    }

    package init(bytes: [UInt8]) throws(FileFault) {
        var reader = ByteReader(bytes)
        try self.init(from: &reader)
        try reader.finish()
    }

    private func write(to writer: inout ByteWriter) {
        writer.identifier(device)
        writer.identifier(object)
        for text in [entity, property, reason] { writer.string(text) }
        for side in [losing, winning] {
            writer.varint(side.stamp.ticks)
            writer.identifier(side.stamp.device)
            side.value.write(to: &writer)
        }
    }

    private init(from reader: inout ByteReader) throws(FileFault) {
        func side() throws(FileFault) -> Side {
            let stamp = Stamp(ticks: try reader.varint(), device: try reader.identifier())
            return Side(stamp: stamp, value: try SyncValue(from: &reader))
        }
        device = try reader.identifier()
        object = try reader.identifier()
        (entity, property, reason) = (try reader.string(), try reader.string(), try reader.string())
        (losing, winning) = (try side(), try side())
    }

    static func write(_ list: [Self], to writer: inout ByteWriter) {
        writer.varint(list.count)
        for refusal in list { refusal.write(to: &writer) }
    }

    static func list(from reader: inout ByteReader) throws(FileFault) -> [Self] {
        let count = try reader.count(ofSize: 71)
        var list: [Self] = []
        list.reserveCapacity(count)
        for _ in 0..<count { list.append(try Self(from: &reader)) }
        return list
    }
}
