import Foundation

/// States with the names and devices in them: what a segment and a snapshot have in common.
enum StateList {
    /// The table, and the states as a field.
    static func encode(_ states: [ObjectState]) -> (table: NameTable, states: ByteWriter) {
        var encoder = StateEncoder(names: NameTable(), hasRuns: false, reserving: states.count * 64)
        encoder.writer.varint(states.count)
        for state in states {
            encoder.writer.identifier(state.id)
            encoder.write(state)
        }
        return (encoder.names, encoder.writer)
    }

    static func decode(_ table: NameTable, states: ByteReader) throws(FileFault) -> [ObjectState] {
        var decoder = StateDecoder(reader: states, names: table, hasRuns: false)
        let count = try decoder.reader.count(ofSize: StateLayout.leastSize)
        var result: [ObjectState] = []
        result.reserveCapacity(count)
        for _ in 0..<count {
            let id = try decoder.reader.identifier()
            result.append(try decoder.state(id: id))
        }
        try decoder.reader.finish()
        return result
    }
}
