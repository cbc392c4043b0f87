import CoreDataDigests
import CoreDataSyncEngine
import Foundation

/// Collects what a capture writes: entries for the sidecar, segments and blobs to be sent.
struct CaptureWriting {
    /// Values with more bytes are files of their own.
    static let largeValue = 16 * 1024
    /// A segment has at most this number of states.
    static let statesPerSegment = 10_000
    /// A segment with more bytes of values is full.
    static let bytesPerSegment = 4 << 20

    var newEntries = NewEntries()
    private(set) var entries: [SidecarEntry] = []
    private(set) var outgoing: [OutgoingFile] = []
    private var states = SegmentWriter()
    private var size = 0
    private var blobs: Set<Data> = []
    private(set) var segments: [UInt64] = []
    private var number: UInt64
    private let device: DeviceID
    private let seen: VersionVector
    private let rules: SyncRules
    /// Of the entities with new objects in the segment.
    private var nilNames = NilNames()

    init(settings: SidecarSettings, rules: SyncRules) {
        (number, device, seen) = (settings.lastSegment, settings.device, settings.seen)
        self.rules = rules
    }

    /// The number of the last segment that was made.
    var lastSegment: UInt64 { number }

    /// The value as a segment has it: a large one is replaced by its digest, and becomes a file.
    mutating func shortened(_ value: SyncValue) -> SyncValue {
        switch value {
        case .string(let text):
            let count = text.utf8.count
            size += count
            return count > Self.largeValue ? blob(Data(text.utf8)) : value
        case .data(let data):
            size += data.count
            return data.count > Self.largeValue ? blob(data) : value
        default: return value
        }
    }

    /// Counts the elements of a value, which are in the segment itself.
    mutating func count(_ set: ElementSet) {
        for element in set.elements { if case .string(let text) = element.value { size += text.utf8.count + 32 } }
    }

    private mutating func blob(_ data: Data) -> SyncValue {
        size -= data.count
        let digest = Digests.sha256(data)
        if blobs.insert(digest).inserted {
            outgoing.append(OutgoingFile(name: .blob(digest), number: number + 1, bytes: data))
        }
        return .blob(digest: digest, size: data.count)
    }

    mutating func add(_ entry: SidecarEntry) { entries.append(entry) }

    mutating func add(_ object: WorkingObject, _ result: inout CaptureResult) {
        guard object.hasChanged else { return }
        entries.append(
            SidecarEntry(
                id: object.id, root: object.root, key: object.key, state: object.state, digests: object.digests))
        if object.hasPart { add(object.part) }
    }

    /// Adds a part to the segment, which is closed when it is full.
    mutating func add(_ part: ObjectState) {
        if part.created != nil, nilNames[part.entity.name] == nil {
            nilNames[part.entity.name] = rules[part.entity.name]?.nilNames
        }
        states.append(part)
        closeIfFull()
    }

    /// Adds a new object of which all values have one stamp.
    mutating func add(
        new id: GlobalID, _ reader: EntityReader, _ stamp: Stamp, _ values: [SyncValue], from start: Int
    ) {
        if reader.segmentColumns?.segment != number + 1 {
            reader.segmentColumns = (number + 1, states.columns(entity: reader.entity.name, reader.names))
            nilNames[reader.entity.name] = reader.entity.nilNames
        }
        guard let columns = reader.segmentColumns?.columns else { return }
        states.append(new: id, columns, stamp, values, from: start)
        closeIfFull()
    }

    private mutating func closeIfFull() {
        if states.count >= Self.statesPerSegment || size >= Self.bytesPerSegment { close() }
    }

    mutating func close() {
        guard states.count > 0 else { return }
        number += 1
        let bytes = states.bytes(
            device: device, number: number, modelHash: rules.modelHash, seen: seen, nilNames: nilNames)
        outgoing.append(OutgoingFile(name: .segment(number), number: number, bytes: bytes))
        segments.append(number)
        changed += states.count
        states = SegmentWriter()
        nilNames = NilNames()
        size = 0
    }

    /// The number of states in the segments.
    private(set) var changed = 0
}

extension CaptureRun {
    /// Writes everything in one transaction.
    func write() throws {
        for entry in gone.values.sorted(by: { $0.id < $1.id }) {
            writing.add(entry)
            guard !isSeed else { continue }
            var part = ObjectState(id: entry.id, entity: entry.state.entity)
            part.deleted = entry.state.deleted
            writing.add(part)
            result.deletedObjects += 1
        }
        writing.close()
        settings.lastSegment = writing.lastSegment
        if !isSeed, !writing.segments.isEmpty {
            var own = OwnSegments(settings)
            for number in writing.segments { own.append(number, ticks: stamp.ticks) }
            own.write(to: &settings)
            if let last = writing.segments.last { sumBases.write(to: &settings, through: last) }
        }
        result.segments = writing.segments
        result.changedObjects = writing.changed
        var change = SidecarChange()
        (change.entries, change.newEntries, change.outgoing) = (
            writing.entries, writing.newEntries, writing.outgoing
        )
        change.conflicts = conflicts
        change.settings = settings
        try capture.sidecar.write(change)
    }
}
