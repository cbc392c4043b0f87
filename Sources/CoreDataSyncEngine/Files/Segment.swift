import Foundation

/// Parts of states that one device sends to all others, as a file.
package struct Segment: Hashable, Sendable {
    package var device: DeviceID
    /// Counts the segments of the device, from 1.
    package var number: UInt64
    /// The hash of the model that the values belong to; see ``ModelOutline``.
    package var modelHash: Data
    /// The segments of other devices that this device had received when it made this one.
    package var seen: VersionVector
    package var states: [ObjectState]
    /// Which values of new objects are nil where their states do not name them.
    package var nilNames: NilNames
    /// Changes of devices that the writer, a service, did not take.
    package var refusals: [Refusal]

    package init(
        device: DeviceID, number: UInt64, modelHash: Data, seen: VersionVector, states: [ObjectState],
        nilNames: NilNames = NilNames(), refusals: [Refusal] = []
    ) {
        (self.device, self.number, self.modelHash) = (device, number, modelHash)
        (self.seen, self.states, self.nilNames, self.refusals) = (seen, states, nilNames, refusals)
    }

    package var bytes: Data { StateFile(self).seal(.segment) }

    /// - Parameter reader: the only device of which ``seen`` says something; `nil` for all. The others are as many
    ///   as there are devices, in each segment of each of them.
    package init(bytes: Data, for reader: DeviceID? = nil) throws(FileFault) {
        let file = try StateFile(.segment, bytes, for: reader)
        self.init(
            device: file.device, number: file.number, modelHash: file.modelHash, seen: file.vector,
            states: file.states, nilNames: file.nilNames, refusals: file.refusals)
    }
}

/// The whole state that a device knows, parked parts included, as a file.
package struct Snapshot: Hashable, Sendable {
    package var device: DeviceID
    /// Counts the snapshots of the device, from 1.
    package var number: UInt64
    /// The hash of the model that the values belong to; see ``ModelOutline``.
    package var modelHash: Data
    /// The segments whose parts are in the states.
    package var contains: VersionVector
    package var states: [ObjectState]

    package init(
        device: DeviceID, number: UInt64, modelHash: Data, contains: VersionVector, states: [ObjectState]
    ) {
        (self.device, self.number, self.modelHash) = (device, number, modelHash)
        (self.contains, self.states) = (contains, states)
    }

    package var bytes: Data { StateFile(self).seal(.snapshot) }

    package init(bytes: Data) throws(FileFault) {
        let file = try StateFile(.snapshot, bytes)
        self.init(
            device: file.device, number: file.number, modelHash: file.modelHash, contains: file.vector,
            states: file.states)
    }
}

/// The fields of both files.
struct StateFile {
    var device: DeviceID
    var number: UInt64
    var modelHash: Data
    var vector: VersionVector
    var states: [ObjectState]
    /// Of segments only: the states of a snapshot name all values.
    var nilNames = NilNames()
    /// Of segments only.
    var refusals: [Refusal] = []

    init(_ segment: Segment) {
        (device, number, modelHash) = (segment.device, segment.number, segment.modelHash)
        (vector, states, nilNames) = (segment.seen, segment.states, segment.nilNames)
        refusals = segment.refusals
    }

    init(_ snapshot: Snapshot) {
        (device, number, modelHash) = (snapshot.device, snapshot.number, snapshot.modelHash)
        (vector, states) = (snapshot.contains, snapshot.states)
    }

    func seal(_ kind: Frame.Kind) -> Data {
        var (table, list) = StateList.encode(states)
        return Self.seal(kind, device, number, modelHash, vector, &table, list, nilNames, refusals)
    }

    static func seal(
        _ kind: Frame.Kind, _ device: DeviceID, _ number: UInt64, _ modelHash: Data, _ vector: VersionVector,
        _ table: inout NameTable, _ list: ByteWriter, _ nilNames: NilNames, _ refusals: [Refusal] = []
    ) -> Data {
        var head = ByteWriter()
        head.identifier(device)
        head.varint(number)
        head.data(modelHash)
        var vectorWriter = ByteWriter()
        vector.write(to: &vectorWriter)
        // The lists add names to the table.
        var nilWriter = ByteWriter()
        if !nilNames.isEmpty { nilNames.write(to: &nilWriter, &table) }
        var names = ByteWriter()
        table.write(to: &names)
        var payload = ByteWriter(reserving: list.bytes.count + names.bytes.count + vectorWriter.bytes.count + 128)
        payload.field(1, head)
        payload.field(2, vectorWriter)
        payload.field(3, names)
        payload.field(4, list)
        if !nilNames.isEmpty { payload.field(5, nilWriter) }
        if !refusals.isEmpty {
            var refusalWriter = ByteWriter()
            Refusal.write(refusals, to: &refusalWriter)
            payload.field(6, refusalWriter)
        }
        return Frame.seal(kind, payload.bytes)
    }

    init(_ kind: Frame.Kind, _ bytes: Data, for device: DeviceID? = nil) throws(FileFault) {
        let fields = try Fields(Frame.open(kind, bytes))
        var head = try fields.required(1)
        self.device = try head.identifier()
        number = try head.varint()
        modelHash = try head.data()
        guard number > 0, number <= FileName.greatestNumber else { throw head.fault("a file has number \(number)") }
        try head.finish()
        var vectorReader = try fields.required(2)
        vector = try VersionVector(from: &vectorReader, of: device)
        try vectorReader.finish()
        var tableReader = try fields.required(3)
        let table = try NameTable(from: &tableReader)
        try tableReader.finish()
        states = try StateList.decode(table, states: fields.required(4))
        guard kind == .segment else { return }
        if var nilReader = fields[5] {
            nilNames = try NilNames(from: &nilReader, table)
            try nilReader.finish()
        }
        guard var refusalReader = fields[6] else { return }
        refusals = try Refusal.list(from: &refusalReader)
        try refusalReader.finish()
    }
}
