import CoreDataSync
import CoreDataSyncEngine
import Foundation

/// Reads the files of a place one at a time, and notes what is wrong with them.
struct PlaceReader {
    let place: any SyncPlace
    /// Milliseconds since 2001.
    let now: UInt64
    private(set) var devices: [PlaceInspection.Device] = []
    private(set) var problems: [PlaceInspection.Problem] = []

    /// The segments that have a file, damaged or not.
    private var listed = VersionVector()
    /// The segments that intact snapshots contain.
    private var contained = VersionVector()
    /// The greatest number of each device's segments that any file names.
    private var highest: [DeviceID: UInt64] = [:]
    private var sizes: [DeviceID: [(number: UInt64, bytes: Int)]] = [:]
    /// Large values that intact files name, each with the first file that does.
    private var needed: [Data: (device: DeviceID, file: FileName)] = [:]
    private var intactValues: Set<Data> = []

    init(place: any SyncPlace, now: UInt64) { (self.place, self.now) = (place, now) }

    // MARK: Reading

    /// Reads all files of a device.
    mutating func read(_ id: DeviceID) async throws {
        let files = DeviceFiles(try await place.list(id.description))
        var device = PlaceInspection.Device(id: id.description)
        (device.segments, device.snapshots) = (files.segments.count, files.snapshots.count)
        (device.values, device.models) = (files.blobs.count, files.models.count)
        for number in files.segments { listed.insert(id, number) }
        for number in files.hellos {
            guard let hello = try await file(.hello(number), id, &device, Hello.init(bytes:)),
                isOwn(.hello(number), id, hello.device, hello.number == number)
            else { continue }
            (device.name, device.lastSeen) = (hello.name, HistoryPrinter.text(SyncTime.date(hello.date)))
            note(hello.seen)
            checkClock(hello.date, id, .hello(number))
        }
        for number in files.segments {
            guard let segment = try await file(.segment(number), id, &device, { try Segment(bytes: $0) }),
                isOwn(.segment(number), id, segment.device, segment.number == number)
            else { continue }
            note(segment.seen)
            note(segment.states, id, .segment(number))
        }
        for number in files.snapshots {
            guard let snapshot = try await file(.snapshot(number), id, &device, Snapshot.init(bytes:)),
                isOwn(.snapshot(number), id, snapshot.device, snapshot.number == number)
            else { continue }
            note(snapshot.contains)
            contained.formUnion(snapshot.contains)
            note(snapshot.states, id, .snapshot(number))
        }
        for digest in files.blobs.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let value = try await file(.blob(digest), id, &device) { data in
                guard Blob.isIntact(data, digest) else {
                    throw FileFault(.torn, "its bytes do not match the checksum in its name")
                }
                return digest
            }
            if let value { intactValues.insert(value) }
        }
        for hash in files.models.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            _ = try await file(.model(hash), id, &device) { data in
                guard try ModelOutline(bytes: data).hash == hash else {
                    throw FileFault(.foreign, "it is the outline of another model")
                }
            }
        }
        devices.append(device)
    }

    /// A device's hello; `nil` for one that cannot be read, or is a copy of another device's.
    static func hello(_ number: UInt64, of id: DeviceID, in place: any SyncPlace) async throws -> Hello? {
        do {
            guard let data = try await place.read(FileName.hello(number).description, in: id.description),
                let hello = try? Hello(bytes: data), hello.device == id, hello.number == number
            else { return nil }
            return hello
        } catch let error as SyncPlaceError where [.damaged, .altered, .tooLarge].contains(error.reason) { return nil }
    }

    /// Reads a file and makes a value of it; notes why it cannot be read.
    ///
    /// - Throws: the place's error if the passphrase is wrong: no file can be read then.
    private mutating func file<Value>(
        _ name: FileName, _ id: DeviceID, _ device: inout PlaceInspection.Device, _ make: (Data) throws -> Value
    ) async throws -> Value? {
        do {
            guard let data = try await place.read(name.description, in: id.description) else {
                add(.torn, id, name, "it is empty")
                return nil
            }
            device.bytes += data.count
            if case .segment(let number) = name { sizes[id, default: []].append((number, data.count)) }
            return try make(data)
        } catch let fault as FileFault {
            add(PlaceInspection.Problem.Kind(fault.kind), id, name, "\(fault.kind.words): \(fault.detail)")
        } catch let error as SyncPlaceError {
            switch error.reason {
            case .wrongPassphrase: throw error
            case .damaged: add(.torn, id, name, error.message)
            case .altered: add(.foreign, id, name, error.message)
            case .tooLarge: add(.malformed, id, name, error.message)
            default: add(.unreadable, id, name, error.message)
            }
        }
        return nil
    }

    private mutating func isOwn(_ file: FileName, _ id: DeviceID, _ device: DeviceID, _ isNumber: Bool) -> Bool {
        if device == id, isNumber { return true }
        add(.foreign, id, file, "foreign: it is a copy of another file, of device \(device)")
        return false
    }

    // MARK: Noting

    private mutating func add(
        _ kind: PlaceInspection.Problem.Kind, _ id: DeviceID, _ file: FileName?, _ message: String
    ) {
        problems.append(.init(kind: kind, device: id.description, file: file?.description, message: message))
    }

    private mutating func note(_ vector: VersionVector) {
        for device in vector.devices { highest[device] = max(highest[device] ?? 0, vector.highest(device)) }
    }

    private mutating func note(_ states: [ObjectState], _ id: DeviceID, _ file: FileName) {
        var blobs: Set<Data> = []
        for state in states { state.addBlobs(to: &blobs) }
        for digest in blobs where needed[digest] == nil { needed[digest] = (id, file) }
        if let last = states.lazy.compactMap(\.lastStamp).max() { checkClock(last.milliseconds, id, file) }
    }

    private mutating func checkClock(_ time: UInt64, _ id: DeviceID, _ file: FileName) {
        guard time > now &+ HybridClock.tolerance else { return }
        let date = HistoryPrinter.text(SyncTime.date(time))
        add(.clock, id, file, "the device's clock is wrong: it wrote the time \(date), more than a day ahead")
    }

    // MARK: What is missing

    /// Finds missing segments and large values; counts the segments that no snapshot contains.
    mutating func findGaps() {
        note(listed)
        let known = listed.union(contained)
        for (device, last) in highest.sorted(by: { $0.key < $1.key }) {
            for gap in known.gaps(of: device, upTo: last) {
                let numbers =
                    gap.lowerBound == gap.upperBound
                    ? "segment \(gap.lowerBound) is" : "segments \(gap.lowerBound)–\(gap.upperBound) are"
                add(.missingSegments, device, nil, "\(numbers) missing, and no snapshot contains what they held")
            }
        }
        let missing = needed.filter { !intactValues.contains($0.key) }
        for (digest, user) in missing.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            add(
                .missingValue, user.device, user.file,
                "the large value \(FileName.blob(digest).description) that it names has not arrived, or is damaged")
        }
        for index in devices.indices {
            guard let id = DeviceID(folder: devices[index].id) else { continue }
            let loose = (sizes[id] ?? []).filter { !contained.contains(id, $0.number) }
            devices[index].looseSegments = loose.count
            devices[index].looseBytes = loose.reduce(0) { $0 + $1.bytes }
        }
    }
}

extension VersionVector {
    /// The ranges of numbers from 1 that are not in the vector.
    fileprivate func gaps(of device: DeviceID, upTo last: UInt64) -> [ClosedRange<UInt64>] {
        var gaps: [ClosedRange<UInt64>] = []
        var next: UInt64 = 1
        for range in ranges(of: device) where range.upperBound >= next {
            if range.lowerBound > next { gaps.append(next...(range.lowerBound - 1)) }
            guard range.upperBound < last else { return gaps }
            next = range.upperBound + 1
        }
        if next <= last { gaps.append(next...last) }
        return gaps
    }
}

extension PlaceInspection.Problem.Kind {
    fileprivate init(_ kind: FileFault.Kind) {
        self =
            switch kind {
            case .torn: .torn
            case .foreign: .foreign
            case .newerVersion: .newerVersion
            case .malformed: .malformed
            }
    }
}

extension FileFault.Kind {
    fileprivate var words: String {
        switch self {
        case .torn: "torn"
        case .foreign: "foreign"
        case .newerVersion: "newer version"
        case .malformed: "malformed"
        }
    }
}
