import CoreData
import CoreDataDigests
import CoreDataSyncEngine
import Foundation

// Telling the others what this device has, and removing files that no device needs.
extension SyncCycle {
    /// Writes a hello if the others would learn something from it.
    func greet() async throws {
        let settings = store.sidecar.settings
        var seen = settings.seen
        if settings.lastSegment > 0 { seen.insert(settings.device, 1...settings.lastSegment) }
        let lease = UInt64(max(0, store.options.lease) * 1000)
        if let last = greeting, last.seen == seen, store.now < last.date + lease / 10 { return }
        _ = try await exchange.publish(hello(settings, seen))
        greeting = (seen, store.now)
    }

    func hello(_ settings: SidecarSettings, _ seen: VersionVector) -> Hello {
        Hello(
            device: settings.device, name: settings.deviceName, number: 1, modelHash: store.rules.modelHash, seen: seen,
            date: store.now, storeName: store.store.url?.lastPathComponent ?? "",
            leaseMilliseconds: UInt64(max(0, store.options.lease) * 1000))
    }

    /// Tells the others that this device synchronises no more.
    func leave() async throws {
        forgetIfOthersWrote()
        let settings = store.sidecar.settings
        _ = try await exchange.leave(hello(settings, settings.seen))
    }

    /// Writes a snapshot when one is due, and deletes own files that no device needs.
    func clean() async throws {
        let own = try await exchange.ownFiles()
        let segments = own.segments.map { PurgePlan.OwnSegment($0, size: sizes[$0] ?? 4096) }
        var snapshots: [OwnSnapshotFile] = []
        for number in own.snapshots {
            let known = ownSnapshots[number]
            guard let snapshot = if let known { known } else { try await readSnapshot(number) } else { continue }
            snapshots.append(snapshot)
            ownSnapshots[number] = snapshot
        }
        var plan = try await plan(own, segments, snapshots)
        if plan.isSnapshotDue || outweighs(own.blobs, snapshots.last), let written = try await writeSnapshot(own.blobs)
        {
            snapshots.append(written)
            plan = try await self.plan(own, segments, snapshots)
        }
        let files = plan.files
        if !files.isEmpty { _ = try await exchange.delete(files) }
    }

    private func plan(
        _ own: DeviceFiles, _ segments: [PurgePlan.OwnSegment], _ snapshots: [OwnSnapshotFile]
    ) async throws -> PurgePlan {
        let store = store
        let hellos = try await BlockingWork.run { try store.sidecar.peers() }.map { peer in
            Hello(
                device: peer.device, name: peer.name, number: peer.hello, modelHash: Data(), seen: peer.received,
                date: peer.seen, storeName: "", leaseMilliseconds: peer.lease, left: peer.hasLeft)
        }
        let needed = try await neededBlobs(own, snapshots)
        return PurgePlan(
            device: store.sidecar.settings.device, hellos: hellos, segments: segments,
            snapshots: snapshots.map(\.file), ownHellos: own.hellos, blobs: needed == nil ? [] : own.blobs,
            neededBlobs: needed ?? [], now: store.now)
    }

    // MARK: Large values

    /// Whether the large values that the newest snapshot does not name outweigh it: a new one lets those be deleted
    /// that no object has.
    private func outweighs(_ blobs: Set<Data>, _ newest: OwnSnapshotFile?) -> Bool {
        let named = newest.map { $0.blobs.intersection(blobs).count } ?? 0
        return PurgePlan.isSnapshotDue(
            looseSegments: 0, ofSize: (blobs.count - named) * CaptureWriting.largeValue,
            snapshot: newest.map { $0.file.size + named * CaptureWriting.largeValue })
    }

    /// The digests of the large values in the place that another device may still read: those that the newest snapshot
    /// names, own segments in the place, and what waits to be sent.
    ///
    /// A segment that another device has not received is still there, unless the snapshot stands for it.
    /// - Returns: `nil` if it cannot be told; then all stay.
    private func neededBlobs(_ own: DeviceFiles, _ snapshots: [OwnSnapshotFile]) async throws -> Set<Data>? {
        guard let newest = snapshots.last, newest.file.number >= own.snapshots.last ?? 0 else { return nil }
        let store = store
        var needed = snapshots.reduce(into: Set()) { $0.formUnion($1.blobs) }
        for case .blob(let digest) in try await BlockingWork.run({ try store.sidecar.outgoingNames() }) {
            needed.insert(digest)
        }
        if own.blobs.isSubset(of: needed) { return needed }
        segmentBlobs = segmentBlobs.filter { own.contains(.segment($0.key)) }
        for number in own.segments where segmentBlobs[number] == nil {
            guard let blobs = try await readBlobs(ofSegment: number) else { return nil }
            segmentBlobs[number] = blobs
        }
        return segmentBlobs.values.reduce(into: needed) { $0.formUnion($1) }
    }

    private func readBlobs(ofSegment number: UInt64) async throws -> Set<Data>? {
        let device = store.sidecar.settings.device
        guard let data = try await place.read(FileName.segment(number).description, in: device.description),
            let segment = try? Segment(bytes: data)
        else { return nil }
        return segment.states.reduce(into: []) { $1.addBlobs(to: &$0) }
    }

    // MARK: Snapshots

    /// - Parameter blobs: the digests of the large values that are in this device's folder.
    private func writeSnapshot(_ blobs: Set<Data>) async throws -> OwnSnapshotFile? {
        let store = store
        let build = { @Sendable in try SnapshotBuilder(store: store, existing: blobs).build() }
        guard let built = try await BlockingWork.run(build) else { return nil }
        for blob in built.blobs { _ = try await exchange.put(.blob(Digests.sha256(blob)), blob) }
        let (number, size) = try await exchange.writeWhole(built.snapshot)
        let written = OwnSnapshotFile(built.snapshot, number, size: size)
        ownSnapshots[number] = written
        return written
    }

    private func readSnapshot(_ number: UInt64) async throws -> OwnSnapshotFile? {
        let device = store.sidecar.settings.device
        guard let data = try await place.read(FileName.snapshot(number).description, in: device.description),
            let snapshot = try? Snapshot(bytes: data)
        else { return nil }
        return OwnSnapshotFile(snapshot, number, size: data.count)
    }
}

/// A snapshot of this device in the place.
struct OwnSnapshotFile {
    let file: PurgePlan.OwnSnapshot
    /// The digests of the large values that it names.
    let blobs: Set<Data>

    init(_ snapshot: Snapshot, _ number: UInt64, size: Int) {
        file = PurgePlan.OwnSnapshot(number, size: size, contains: snapshot.contains)
        blobs = snapshot.states.reduce(into: []) { $1.addBlobs(to: &$0) }
    }
}
