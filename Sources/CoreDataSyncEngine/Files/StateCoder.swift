import Foundation

/// Converts states to bytes for the sidecar, which keeps an object's ID beside them and the table of names in its
/// settings.
///
/// The state of an object that was not changed since it was inserted takes about 14 bytes, however many properties it
/// has, if the names of an entity's properties follow one another in the table.
///
///     var coder = StateCoder(names: settings.names)
///     entry.state = coder.encode(state)           // coder.names may have grown: write it in the same transaction
///     let state = try coder.decode(entry.state, id: entry.identifier)
package struct StateCoder: Sendable {
    package private(set) var names: NameTable

    package init(names: NameTable = NameTable()) { self.names = names }

    /// Adds names to the table ahead, so that those of one entity follow one another.
    package mutating func register(_ names: some Sequence<String>) {
        for name in names { _ = self.names.number(of: name) }
    }

    package mutating func encode(_ state: ObjectState) -> Data {
        var encoder = StateEncoder(names: names, hasRuns: true, reserving: 24)
        encoder.write(state)
        names = encoder.names
        return encoder.writer.asData
    }

    package func decode(_ data: Data, id: GlobalID) throws(FileFault) -> ObjectState {
        var decoder = StateDecoder(reader: ByteReader(data), names: names, hasRuns: true)
        let state = try decoder.state(id: id)
        try decoder.reader.finish()
        return state
    }
}

extension ObjectState {
    /// Appends the state to a file that has the table of names and devices elsewhere.
    package func write(to writer: inout ByteWriter, names: inout NameTable) {
        var encoder = StateEncoder(names: names, hasRuns: false)
        encoder.write(self)
        names = encoder.names
        writer.identifier(id)
        writer.raw(encoder.writer.bytes)
    }

    package init(from reader: inout ByteReader, names: NameTable) throws(FileFault) {
        let id = try reader.identifier()
        var decoder = StateDecoder(reader: reader, names: names, hasRuns: false)
        self = try decoder.state(id: id)
        reader = decoder.reader
    }
}
