import CoreData
import CoreDataSyncEngine
import Foundation

/// Runs exchanges of one store, one after the other.
///
/// ```
/// recover ──▶ capture ──▶ send ──▶ receive ──▶ apply ──▶ send what apply found ──▶ hello, snapshot, purge
/// ```
/// Every step may be the last one of the process: the next exchange goes on from what the sidecar has.
actor SyncCycle {
    let store: SyncedStore
    let place: any SyncPlace
    private(set) var exchange: Exchange
    private var seeding = Seeding.merge
    private var hasRecovered = false
    /// How often the store's lock had been taken at the last exchange after another process had written.
    private var changes = 0
    /// What the last hello of this process said, and when.
    var greeting: (seen: VersionVector, date: UInt64)?
    /// The sizes of segments that this process sent.
    private(set) var sizes: [UInt64: Int] = [:]
    /// The own snapshots in the place, as far as they were read or written.
    var ownSnapshots: [UInt64: OwnSnapshotFile] = [:]
    /// The digests of the large values that own segments in the place name, as far as they were read.
    var segmentBlobs: [UInt64: Set<Data>] = [:]
    /// Files that cannot be used, in words for people.
    private(set) var troubles: [String] = []
    private var stages: SyncStageReport
    private var hasReceived = false
    /// Whether files of this device can be read by the others.
    private var isKnownAsUnsealed = false

    init(_ store: SyncedStore, _ place: any SyncPlace) {
        (self.store, self.place) = (store, place)
        stages = SyncStageReport(store.options.didChangeStage)
        exchange = Self.exchange(store, place)
    }

    private static func exchange(_ store: SyncedStore, _ place: any SyncPlace) -> Exchange {
        let now = store.options.now
        return Exchange(place: place, device: store.sidecar.settings.device) { SyncTime.milliseconds(now()) }
    }

    func setSeeding(_ seeding: Seeding) { self.seeding = seeding }

    // MARK: One exchange

    /// - Parameter report: called when an activity begins.
    func run(_ report: @Sendable (SyncState.Activity) -> Void) async throws -> SyncSummary {
        var summary = SyncSummary()
        report(.capturing)
        try await stage(.exporting) {
            try await prepare()
            summary.captured = try await capture()
        }
        var failure: SyncPlaceError?
        do { try await stage(.exporting) { try await send(&summary, report) } } catch let error as SyncPlaceError
            where error.forbidsWriting
        {
            // What other devices wrote can be read all the same.
            failure = error
        }
        if !hasReceived { stages.begin(.importing) }
        try await stage(.importing) { try await receive(&summary, report) }
        hasReceived = true
        if let failure { throw failure }
        try await stage(.exporting) {
            try await send(&summary, report)
            try await checkSealing()
            try await greet()
            try await clean()
        }
        try await BlockingWork.run { [store] in store.noteHistoryRead() }
        return summary
    }

    private func stage(_ stage: SyncStage, _ body: () async throws -> Void) async throws {
        do { try await body() } catch {
            stages.end(stage, error)
            throw error
        }
        stages.end(stage, nil)
    }

    private func prepare() async throws {
        let store = store
        forgetIfOthersWrote()
        try await BlockingWork.run { try store.sidecar.rename(to: store.deviceName) }
        // Also after a write of the sidecar has failed in this process.
        try await BlockingWork.run { try store.applier.recover() }
        if !hasRecovered {
            hasRecovered = true
            try await findCopy()
        }
        let settings = store.sidecar.settings
        if settings.token == nil, seeding == .replaceLocal {
            try await BlockingWork.run { try store.deleteEverything() }
        }
        try await BlockingWork.run { try store.boundJournal() }
        // A new version of the model may know what was parked.
        if let former = settings.modelHash, former != store.rules.modelHash { try await retryParked { _ in true } }
    }

    /// Forgets what is kept in memory if another process has synchronised since. It may have died meanwhile.
    func forgetIfOthersWrote() {
        guard store.lock.changes != changes else { return }
        changes = store.lock.changes
        hasRecovered = false
        renewExchange()
    }

    /// Finds out whether another device uses this one's ID before anything is captured under it: sums count what each
    /// ID added.
    private func findCopy() async throws {
        let store = store
        let last = store.sidecar.settings.lastSegment
        // Without the place this is found when something is sent.
        let strange = try? await exchange.strangeSegment(after: last)
        guard strange != nil else { return }
        let past = CopiedPast(before: store.sidecar.settings)
        try await renewAsCopy { past.write(to: &$0) }
    }

    /// Gives this device a new ID, because another one has sent segments under the present one.
    private func renewAsCopy(
        _ finish: @escaping @Sendable (inout SidecarSettings) -> Void = { _ in }
    ) async throws {
        let store = store
        var first = store.sidecar.settings.lastSegment + 1
        for segment in try await BlockingWork.run({ try store.outbox(limit: .max) }) {
            // A process may have been killed that had sent a segment and not noted it.
            if try await exchange.has(segment) { continue }
            first = segment.number
            break
        }
        let number = first
        try await BlockingWork.run { try store.renew(keepingSegmentsBelow: number, finish: finish) }
        renewExchange()
    }

    private func capture() async throws -> Int {
        let (store, age) = (store, seeding.age)
        let (changed, isRestored) = try await BlockingWork.run { try store.capture(seeding: age) }
        if CopiedPast(store.sidecar.settings) != nil {
            try await BlockingWork.run { try store.sidecar.changeSettings { CopiedPast.remove(from: &$0) } }
        }
        guard isRestored else { return changed }
        try await BlockingWork.run { try store.takeRestoredStore() }
        renewExchange()
        return changed
    }

    private func renewExchange() {
        exchange = Self.exchange(store, place)
        (greeting, sizes, ownSnapshots, segmentBlobs) = (nil, [:], [:], [:])
    }

    // MARK: Sending

    private func send(_ summary: inout SyncSummary, _ report: (SyncState.Activity) -> Void) async throws {
        let store = store
        let total = try await BlockingWork.run { try store.sidecar.outgoingNames().count { $0.isSegment } }
        var done = 0
        while true {
            let outbox = try await BlockingWork.run { try store.outbox(limit: 16) }
            guard !outbox.isEmpty else { return }
            try await checkSealing()
            stages.begin(.exporting)
            report(.sending(done, of: max(total, done + outbox.count)))
            let sending = try await exchange.send(outbox)
            for segment in outbox { sizes[segment.number] = segment.bytes.count }
            if !sending.sent.isEmpty { try await BlockingWork.run { try store.noteSent(sending.sent) } }
            summary.sent += sending.sent.count
            done += sending.sent.count
            if let taken = sending.taken {
                try await BlockingWork.run { try store.renew(keepingSegmentsBelow: taken) }
                renewExchange()
                continue
            }
            if let failure = sending.failure { throw failure }
            if sending.sent.isEmpty { return }
        }
    }

    /// Refuses to write into a sealed place without its passphrase: the other devices would ignore the files, which a
    /// person without the passphrase could read.
    private func checkSealing() async throws {
        // If the place cannot be listed, what follows tells why.
        guard !isKnownAsUnsealed, let isSealed = try? await SealedPlace.isSealed(place) else { return }
        if isSealed {
            throw SyncPlaceError(
                .wrongPassphrase, "The place is sealed. Use a SealedPlace with the passphrase of the other devices.")
        }
        isKnownAsUnsealed = true
    }

    // MARK: Receiving

    private func receive(_ summary: inout SyncSummary, _ report: (SyncState.Activity) -> Void) async throws {
        let store = store
        var troubles: [String] = []
        let applied = summary.applied
        var hasMore = true
        var isComplete = true
        while hasMore {
            report(.receiving)
            let settings = store.sidecar.settings
            var known = settings.seen
            if settings.lastSegment > 0 { known.insert(settings.device, 1...settings.lastSegment) }
            let received = try await exchange.receive(known: known, lastSegment: settings.lastSegment)
            if received.strangeSegment != nil {
                try await renewAsCopy()
                continue
            }
            troubles += received.faults.map(\.description)
            troubles += Self.clockTroubles(received)
            isComplete = received.missing.isEmpty && received.faults.isEmpty && received.failure == nil
            summary.received += received.segments.count + received.snapshots.count
            let parts = try await parts(received)
            if !parts.isEmpty {
                stages.begin(.importing)
                report(.applying)
                let seen = received
                // Before the files count as received: if the process dies between, they are noted once.
                summary.conflicts += try await BlockingWork.run {
                    try store.note(seen.segments.flatMap(\.refusals))
                }
                let result = try await BlockingWork.run {
                    try store.applier.apply(parts) { settings in
                        settings.seen.formUnion(seen.known(VersionVector()))
                    }
                }
                summary.applied += result.inserted + result.updated + result.deleted
                summary.conflicts += result.conflicts
            }
            try await notePeers(received)
            hasMore = received.hasMore
            if let failure = received.failure, !hasMore { throw failure }
        }
        // What the store refused may be valid with what came since.
        let hasApplied = summary.applied > applied
        try await retryParked { hasApplied && $0.reason.hasPrefix(ApplyPlanner.Reason.refused) }
        self.troubles = Array(Set(troubles)).sorted()
        if isComplete, troubles.isEmpty { try await BlockingWork.run { try store.finishRestoration() } }
    }

    /// Says which devices have a wrong clock: all later writes here would follow theirs.
    private static func clockTroubles(_ received: Received) -> [String] {
        received.future.map { device, time in
            let name = received.hellos.first { $0.device == device }.map { "\($0.name) (\(device))" } ?? "\(device)"
            return
                "Device \(name): its clock is wrong. It wrote changes with the time \(SyncTime.date(time).formatted(.iso8601)), which is more than a day ahead. They wait until that time, or until this device's clock is corrected."
        }
    }

    /// The states of files with their large values, where these have arrived.
    private func parts(_ received: Received) async throws -> [IncomingPart] {
        var parts: [IncomingPart] = []
        for snapshot in received.snapshots {
            let states = try await withBlobs(snapshot.states, snapshot.device)
            parts.append(IncomingPart(states: states, seen: snapshot.contains, modelHash: snapshot.modelHash))
        }
        for segment in received.segments {
            let states = try await withBlobs(segment.states, segment.device)
            parts.append(IncomingPart(segment, states))
        }
        return parts
    }

    private func withBlobs(_ states: [ObjectState], _ owner: DeviceID?) async throws -> [ObjectState] {
        guard states.contains(where: { $0.hasBlobs }) else { return states }
        var result = states
        // Many objects may have the same value.
        var known: [Data: Data?] = [:]
        for index in result.indices where result[index].hasBlobs {
            for (name, property) in result[index].properties {
                guard case .last(let stamp, .blob(let digest, let size)) = property,
                    let kind = store.rules[result[index].entity.name]?[name]?.kind
                else { continue }
                let read = if let found = known[digest] { found } else { try? await exchange.blob(digest, of: owner) }
                known[digest] = .some(read)
                guard let data = read, data.count == size else { continue }
                if case .attribute(.string, _) = kind {
                    result[index].properties[name] = .last(stamp, .string(String(decoding: data, as: UTF8.self)))
                } else {
                    result[index].properties[name] = .last(stamp, .data(data))
                }
            }
        }
        return result
    }

    /// Applies parked states again: those whose large values have arrived, and others for which something may have
    /// changed.
    private func retryParked(_ isWanted: @Sendable (ParkedState) -> Bool) async throws {
        let store = store
        let parked = try await BlockingWork.run { try store.sidecar.parked() }
            .filter { $0.state.hasBlobs || isWanted($0) }
        guard !parked.isEmpty else { return }
        let outdated = try await BlockingWork.run { try store.applier.outdated(parked) }
        let states = zip(parked, try await withBlobs(parked.map(\.state), nil))
            .filter { isWanted($0) || $0.state != $1 || outdated.contains($1.id) }.map(\.1)
        guard !states.isEmpty else { return }
        _ = try await BlockingWork.run { try store.applier.applyParked(states) }
    }

    private func notePeers(_ received: Received) async throws {
        guard !received.hellos.isEmpty else { return }
        let store = store
        try await BlockingWork.run {
            var change = SidecarChange()
            let own = store.sidecar.settings.device
            change.peers = received.hellos.map { hello in
                // What the peer has of others would be as many entries for each of them.
                SidecarPeer(
                    device: hello.device, name: hello.name, received: hello.seen.part(of: own), hello: hello.number,
                    lease: hello.leaseMilliseconds, seen: hello.date, hasLeft: hello.left)
            }
            if Set(change.peers) != Set(try store.sidecar.peers()) { try store.sidecar.write(change) }
        }
    }
}

extension SyncPlaceError {
    /// Whether the place can be read although nothing can be written.
    var forbidsWriting: Bool { [.readOnly, .full, .noPermission].contains(reason) }
}

extension FileName {
    var isSegment: Bool { if case .segment = self { true } else { false } }
}

extension ObjectState {
    /// Whether a value is in a file of its own.
    var hasBlobs: Bool {
        properties.values.contains { if case .last(_, .blob) = $0 { true } else { false } }
    }
}

extension Seeding {
    var age: SeedAge {
        switch self {
        case .merge: .even
        case .preferLocal: .prevailing
        case .preferRemote, .replaceLocal: .yielding
        }
    }
}
