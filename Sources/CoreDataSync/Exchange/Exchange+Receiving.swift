import CoreDataSyncEngine
import Foundation

/// What one call of `receive` has found out so far.
private struct Portion {
    var received = Received()
    /// What the caller knows with this portion.
    var known: VersionVector
    var files: [DeviceID: DeviceFiles] = [:]
    var bytes = 0
    var failuresInRow = 0
    let now: UInt64

    /// The other devices, in order.
    var others: [DeviceID] = []
}

/// Ends a portion early: the place fails.
private struct PlaceFails: Error {}

extension Exchange {
    /// Reads what the other devices have sent and the caller does not know: hellos, then snapshots where segments were
    /// deleted, then segments.
    ///
    /// ```
    /// list ──▶ hellos ──▶ needed segments that cannot be read? ──▶ snapshots ──▶ segments, one of each device in turn
    /// ```
    /// A file that is damaged or cannot be read delays nothing else; it is read again later, ever more seldom.
    ///
    /// - Parameters:
    ///   - known: the segments that the caller has kept or that its snapshots contained, its own included.
    ///   - lastSegment: the number of the last segment that this device ever made.
    /// - Throws: if the devices' folders cannot be listed, the passphrase is wrong, or the task was cancelled. Other
    ///   failures are in the result.
    package func receive(known: VersionVector, lastSegment: UInt64) async throws -> Received {
        var portion = Portion(known: known, now: now())
        try await list(&portion)
        do {
            try await readHellos(&portion)
            try await checkOwnSegments(&portion, lastSegment)
            try await readSnapshots(&portion)
            try await readSegments(&portion)
        } catch is PlaceFails { portion.received.hasMore = false }
        portion.received.hellos = hellos.values.sorted { $0.device < $1.device }
        portion.received.missing = unreadable(portion)
        noteMissing(portion.received.missing, portion.now)
        forgetOldFailures(portion)
        portion.received.faults = faults(portion)
        portion.received.future = futures(portion.files, now: portion.now)
        return portion.received
    }

    private func list(_ portion: inout Portion) async throws {
        for device in Set(try await place.list(nil).compactMap(DeviceID.init(folder:))).sorted() {
            try Task.checkCancellation()
            do {
                portion.files[device] = DeviceFiles(try await place.list(device.description))
                portion.failuresInRow = 0
            } catch let error as CancellationError {
                throw error
            } catch {
                portion.received.failure = error
                portion.failuresInRow += 1
                if portion.failuresInRow >= limits.failuresInRow { throw error }
            }
        }
        // A place without a folder of ours shows an empty one: nothing failed.
        portion.received.own =
            portion.files.removeValue(forKey: device)
            ?? (portion.received.failure == nil ? DeviceFiles() : nil)
        portion.others = portion.files.keys.sorted()
        listing = portion.files
    }

    private func forgetOldFailures(_ portion: Portion) {
        let (device, hellos) = (device, hellos)
        schedule.remove { key, entry in
            let files = portion.files[key.device]
            if key.device != device {
                switch key.file {
                case .segment(let number) where portion.known.contains(key.device, number): return true
                case .hello(let number) where number <= hellos[key.device]?.number ?? 0: return true
                case .snapshot(let number) where number < files?.snapshots.last ?? 0: return true
                default: if files?.contains(key.file) == true { return false }
                }
            }
            // A listing may be late, and a file may be sent again tomorrow.
            return portion.now > entry.last &+ 48 * RetrySchedule.greatestDelay
        }
    }

    // MARK: - Hellos and own files

    private func readHellos(_ portion: inout Portion) async throws {
        let known = hellos
        let wanted = portion.others.compactMap { device -> FileKey? in
            guard let number = portion.files[device]?.hellos.last, number > known[device]?.number ?? 0 else {
                return nil
            }
            return FileKey(device, .hello(number))
        }
        try await readEach(wanted, &portion) { key, data, portion in
            guard case .hello(let number) = key.file,
                let hello = decode(key, data, { try Hello($0, key, number) })
            else { return }
            keep(hello)
        }
        // Where the newest cannot be read, an older one says more than none.
        let older = wanted.compactMap { key -> FileKey? in
            guard hellos[key.device] == nil, let numbers = portion.files[key.device]?.hellos, numbers.count > 1 else {
                return nil
            }
            return FileKey(key.device, .hello(numbers[numbers.count - 2]))
        }
        try await readEach(older, &portion) { key, data, portion in
            guard case .hello(let number) = key.file,
                let hello = decode(key, data, { try Hello($0, key, number) })
            else { return }
            keep(hello)
        }
    }

    /// Each hello names all devices: what they say is joined once, and not with each look at the place.
    private func keep(_ hello: Hello) {
        let former = hellos.updateValue(hello, forKey: hello.device)
        if let former, !hello.seen.isSuperset(of: former.seen) {
            // The device takes something back.
            named = hellos.values.reduce(into: VersionVector()) { $0.formUnion($1.seen) }
        } else {
            named.formUnion(hello.seen)
        }
    }

    /// Reads the newest segment under this device's ID if this device did not write it: an intact one is another
    /// device's.
    private func checkOwnSegments(_ portion: inout Portion, _ last: UInt64) async throws {
        guard let number = portion.received.own?.segments.last, number > last else { return }
        try await readEach([FileKey(device, .segment(number))], &portion) { key, data, portion in
            guard decode(key, data, { try Segment($0, key, number, for: device) }) != nil else { return }
            portion.received.strangeSegment = number
        }
    }

    /// The number of an intact segment under this device's ID that this device did not write.
    package func strangeSegment(after last: UInt64) async throws -> UInt64? {
        guard let number = DeviceFiles(try await place.list(folder)).segments.last, number > last else { return nil }
        let key = FileKey(device, .segment(number))
        guard case .data(let data) = try await read(key), (try? Segment(data, key, number, for: device)) != nil else {
            return nil
        }
        return number
    }

    // MARK: - Snapshots

    /// The segments that exist or existed, but are neither known nor readable at present.
    private func unreadable(_ portion: Portion) -> VersionVector {
        var all = named
        for (device, files) in portion.files {
            // A device counts its segments from 1.
            if let last = files.segments.last { all.insert(device, 1...last) }
        }
        var readable = portion.known
        for (device, files) in portion.files {
            for number in files.segments where schedule.entries[FileKey(device, .segment(number))] == nil {
                readable.insert(device, number)
            }
        }
        var own = VersionVector()
        for range in all.ranges(of: device) { own.insert(device, range) }
        return all.subtracting(readable).subtracting(own)
    }

    /// The part of the unreadable segments for which snapshots are read now: a device deletes its oldest segments
    /// first; others may only be listed late, or become whole.
    private func lost(_ portion: Portion) -> VersionVector {
        let missing = unreadable(portion)
        noteMissing(missing, portion.now)
        var result = VersionVector()
        for device in missing.devices {
            let isLate = portion.now >= missingSince[device, default: portion.now] &+ limits.patience
            let files = portion.files[device]
            let first = files?.segments.first ?? (files?.snapshots.isEmpty == false ? .max : 0)
            for range in missing.ranges(of: device) where isLate || range.lowerBound < first {
                result.insert(device, isLate ? range : range.lowerBound...min(range.upperBound, first - 1))
            }
        }
        return result
    }

    private func noteMissing(_ missing: VersionVector, _ now: UInt64) {
        let before = missingSince
        missingSince = [:]
        for device in missing.devices { missingSince[device] = min(before[device, default: now], now) }
    }

    private func readSnapshots(_ portion: inout Portion) async throws {
        var lost = lost(portion)
        if lost.isEmpty { return }
        // The newest of each device; first of those that deleted segments themselves.
        var keys = portion.others.compactMap { device in
            portion.files[device]?.snapshots.last.map { FileKey(device, .snapshot($0)) }
        }
        keys = keys.filter { !lost.ranges(of: $0.device).isEmpty } + keys.filter { lost.ranges(of: $0.device).isEmpty }
        let now = portion.now
        for key in keys where !lost.isEmpty && !isFuture(key, now: now) {
            if let contents = snapshotContents[key], !contents.intersects(lost) { continue }
            if portion.bytes >= limits.portionBytes {
                portion.received.hasMore = true
                return
            }
            try await readEach([key], &portion) { key, data, portion in
                guard case .snapshot(let number) = key.file,
                    let snapshot = decode(key, data, { try Snapshot($0, key, number) }),
                    !isPostponed(key, snapshot.states, now: now)
                else { return }
                snapshotContents = snapshotContents.filter { $0.key.device != key.device }
                snapshotContents[key] = snapshot.contains
                guard snapshot.contains.intersects(lost) else { return }
                portion.received.snapshots.append(snapshot)
                portion.known.formUnion(snapshot.contains)
                lost = lost.subtracting(snapshot.contains)
            }
        }
    }

    // MARK: - Segments

    private func readSegments(_ portion: inout Portion) async throws {
        let (known, now) = (portion.known, portion.now)
        var queues = portion.others.map { device in
            let wanted = (portion.files[device]?.segments ?? []).filter {
                !known.contains(device, $0) && !isFuture(FileKey(device, .segment($0)), now: now)
            }
            return (device, wanted[...])
        }
        var turn: [FileKey] = []
        while true {
            // One of each device in turn, so that no device waits for another one's many.
            turn = queues.indices.compactMap { index in
                queues[index].1.popFirst().map { FileKey(queues[index].0, .segment($0)) }
            }
            if turn.isEmpty { return }
            if portion.bytes >= limits.portionBytes { break }
            try await readEach(turn, &portion, bounded: true) { key, data, portion in
                guard case .segment(let number) = key.file,
                    let segment = decode(key, data, { try Segment($0, key, number, for: device) }),
                    !isPostponed(key, segment.states, now: now)
                else { return }
                portion.received.segments.append(segment)
                portion.known.insert(key.device, number)
            }
        }
        portion.received.hasMore =
            turn.contains { schedule.isDue($0, now: now) }
            || queues.contains { device, rest in
                rest.contains { schedule.isDue(FileKey(device, .segment($0)), now: now) }
            }
    }

    // MARK: - Reading

    /// Reads the files that are due, some at the same time, and hands over their bytes in order.
    ///
    /// - Parameter bounded: whether to stop where the portion is full.
    private func readEach(
        _ keys: [FileKey], _ portion: inout Portion, bounded: Bool = false,
        _ use: (FileKey, Data, inout Portion) -> Void
    ) async throws {
        let now = portion.now
        var rest = keys.filter { schedule.isDue($0, now: now) }[...]
        while !rest.isEmpty {
            try Task.checkCancellation()
            if bounded, portion.bytes >= limits.portionBytes {
                portion.received.hasMore = true
                return
            }
            let some = Array(rest.prefix(max(1, limits.parallelReads)))
            rest = rest.dropFirst(some.count)
            for (key, reading) in try await readTogether(some) {
                switch reading {
                case .data(let data):
                    portion.failuresInRow = 0
                    // An empty file costs a read, too.
                    portion.bytes += max(data.count, 1024)
                    use(key, data, &portion)
                case .absent:
                    portion.failuresInRow = 0
                    schedule.noteFailure(key, nil, now: now)
                case .fault(let fault):
                    portion.failuresInRow = 0
                    schedule.noteFailure(key, fault, now: now)
                case .failure(let error):
                    let fault = FileFault(.torn, "\(error.localizedDescription)", file: key.file.description)
                    schedule.noteFailure(key, fault, now: now)
                    portion.failuresInRow += 1
                    portion.received.failure = error
                    if portion.failuresInRow >= limits.failuresInRow { throw PlaceFails() }
                }
            }
        }
    }

    private func readTogether(_ keys: [FileKey]) async throws -> [(FileKey, Reading)] {
        if keys.count == 1 { return [(keys[0], try await read(keys[0]))] }
        return try await withThrowingTaskGroup(of: (Int, Reading).self) { group in
            for (index, key) in keys.enumerated() {
                group.addTask { (index, try await self.read(key)) }
            }
            var readings = [Reading](repeating: .absent, count: keys.count)
            for try await (index, reading) in group { readings[index] = reading }
            return Array(zip(keys, readings))
        }
    }

    /// The files that are needed, but cannot be read.
    private func faults(_ portion: Portion) -> [Received.Fault] {
        schedule.entries.compactMap { key, entry in
            guard let fault = entry.fault else { return nil }
            if key.device != device, portion.files[key.device]?.contains(key.file) != true { return nil }
            // Snapshots are read for what is missing.
            if case .snapshot = key.file, portion.received.missing.isEmpty { return nil }
            return Received.Fault(key: key, fault: fault, attempts: entry.attempts, nextAttempt: entry.next)
        }.sorted { ($0.key.device, $0.key.file.description) < ($1.key.device, $1.key.file.description) }
    }
}
