import CoreData
import CoreDataSyncEngine
import Foundation

// A store that was restored from a backup: it is older than its sidecar.
//
// Every step may be the last one of the process; the sidecar keeps which one is next.
extension SyncedStore {
    /// Brings the sidecar in line with a restored store, so that the device can receive everything that it once knew.
    ///
    /// - The store's values count as older than every edit, but for those that were saved since it was restored.
    /// - Objects that were deleted since the backup get their identities back, and are deleted when everything was
    ///   received.
    /// - Objects that were created since the backup lose their rows, and are created again with what the place has.
    /// - The device gets a new ID, so that it receives what its former self sent.
    func takeRestoredStore() throws {
        if (Restoration(sidecar.settings)?.step ?? .receiving) == .receiving { try beginRestoration() }
        try options.checkpoint?("restore.begun")
        guard let restoration = Restoration(sidecar.settings) else { return }
        if restoration.step == .forgetting { try forgetValues(restoration) }
        try options.checkpoint?("restore.forgotten")
        guard try captureRestoredStore() else {
            // It was restored once more meanwhile.
            try beginRestoration()
            return try takeRestoredStore()
        }
        try options.checkpoint?("restore.compared")
        // What was not sent yet is not in the restored store either.
        let settings = sidecar.settings
        let unsent = try outbox(limit: .max).compactMap { try? Segment(bytes: $0.bytes) }
        if !unsent.isEmpty {
            _ = try applier.apply(unsent.map { IncomingPart($0, seen: settings.seen) })
        }
        try options.checkpoint?("restore.applied")
        try setStep(.receiving)
    }

    private func beginRestoration() throws {
        let capture = try applier.capture()
        let settings = sidecar.settings
        let end = capture.historyEnd
        let position = try HistoryMark(settings).flatMap { try capture.positionBeforeEdits(after: $0) } ?? end
        try coordinator.checkAttached(store)
        let restoration = Restoration(
            step: .forgetting, position: position, isOtherStore: settings.storeIdentifier != store.identifier)
        try renew(keepingSegmentsBelow: 1) { settings in
            settings.seen = VersionVector()
            settings.appliedBegun = nil
            restoration.write(to: &settings)
        }
    }

    private func setStep(_ step: Restoration.Step, _ body: (inout SidecarSettings) -> Void = { _ in }) throws {
        guard var restoration = Restoration(sidecar.settings) else { return }
        restoration.step = step
        try sidecar.changeSettings { settings in
            restoration.write(to: &settings)
            body(&settings)
        }
    }

    // MARK: Forgetting

    /// What the sidecar knew of values is not what the store has any more. Doing it twice changes nothing.
    private func forgetValues(_ restoration: Restoration) throws {
        let capture = try applier.capture()
        let taken = try restoration.position.map { try capture.insertedKeys(after: $0) } ?? [:]
        try sidecar.forEachEntry { entries in
            var forgotten = SidecarChange()
            let rows = try restoredRows(entries, capture)
            try coordinator.checkAttached(store)
            forgotten.entries = entries.map { entry in
                var entry = entry
                // Those that merge by value are written back.
                entry.state.properties = entry.state.properties.filter { $0.value.mergesByValue }
                entry.state.edges = [:]
                entry.digests = nil
                let isTaken = taken[entry.root]?.contains(max(entry.key, entry.formerKey)) == true
                if isTaken || restoration.isOtherStore {
                    // The key belongs to another object by now.
                    (entry.key, entry.formerKey) = (0, 0)
                } else if entry.key == 0, rows[entry.root]?.contains(entry.formerKey) == true {
                    (entry.key, entry.formerKey) = (entry.formerKey, 0)
                }
                return entry
            }
            try sidecar.write(forgotten)
            try options.checkpoint?("restore.forgetting")
        }
        try setStep(.capturing) { settings in
            if let position = restoration.position { settings.token = [store.identifier: position] }
            settings.storeIdentifier = store.identifier
            HistoryMark.remove(from: &settings)
        }
    }

    /// The rows of deleted objects that the store has again.
    private func restoredRows(_ entries: [SidecarEntry], _ capture: Capture) throws -> [String: Set<Int64>] {
        let deleted = Dictionary(grouping: entries.filter { $0.key == 0 && $0.formerKey != 0 }, by: \.root)
        var result: [String: Set<Int64>] = [:]
        for (root, entries) in deleted where rules[root] != nil {
            result[root] = try capture.existing(entries.map(\.formerKey), root: root)
        }
        return result
    }

    // MARK: Capturing

    /// Captures edits since the restore, then everything else as older than every edit.
    ///
    /// - Returns: `false` if the store was restored once more.
    private func captureRestoredStore() throws -> Bool {
        let capture = try applier.capture()
        var differing: Set<GlobalID> = []
        while capture.hasHistory {
            let result = try capture.run()
            differing.formUnion(result.differing)
            if result.needsComparison == .otherStore { return false }
            guard result.needsComparison == nil, result.isPartial else { break }
        }
        try options.checkpoint?("restore.captured")
        let position = sidecar.settings.token?[store.identifier]
        differing.formUnion(try capture.compareAll(seed: .even, after: position).differing)
        if !differing.isEmpty { _ = try applier.writeBack(differing) }
        return true
    }

    // MARK: Deleting

    /// Deletes the objects that were deleted since the backup. Everything was received: objects that were moved away
    /// from them stay.
    func finishRestoration() throws {
        guard Restoration(sidecar.settings)?.step == .receiving else { return }
        var deleted: [GlobalID] = []
        try sidecar.forEachEntry { entries in
            deleted += entries.lazy.filter { $0.key != 0 && $0.state.isGone }.map(\.id)
        }
        for start in stride(from: 0, to: deleted.count, by: Applier.portion) {
            let some = deleted[start..<min(deleted.count, start + Applier.portion)]
            _ = try applier.writeBack(Set(some), deletes: true)
        }
        try options.checkpoint?("restore.deleted")
        try sidecar.changeSettings { Restoration.remove(from: &$0) }
    }
}

extension PropertyState {
    /// Whether the value is the join of several, and not the last one that was written.
    fileprivate var mergesByValue: Bool { if case .last = self { false } else { true } }
}
