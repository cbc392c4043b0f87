import CoreData
import Foundation
import Testing

@testable import CoreDataSync
@testable import CoreDataSyncEngine

@Suite struct SidecarTests {
    private let device = DeviceID(high: 1, low: 2)

    private func id(_ number: Int) -> GlobalID { GlobalID(high: 7, low: UInt64(number)) }

    private func entry(_ number: Int, root: String = "Item", key: Int64? = nil, ticks: UInt64 = 1 << 20) -> SidecarEntry
    {
        let stamp = Stamp(ticks: ticks, device: device)
        var state = ObjectState(id: id(number), entity: .init("Drink", stamp))
        (state.born, state.created) = (stamp, stamp)
        state.properties["name"] = .last(stamp, .stored)
        state.edges[.init("tags", id(number + 1))] = EdgeState(added: stamp)
        return SidecarEntry(
            id: id(number), root: root, key: key ?? Int64(number), state: state,
            digests: number % 2 == 0 ? Data([1, 2]) : nil)
    }

    private func change(_ fill: (inout SidecarChange) -> Void) -> SidecarChange {
        var change = SidecarChange()
        fill(&change)
        return change
    }

    struct Thrown: Error {}

    // MARK: Entries

    @Test func entriesAreFoundByIDAndByKey() throws {
        let sidecar = try Sidecar.inMemory()
        let entries = [entry(1), entry(2), entry(3, root: "Tag", key: 2), entry(4, key: 900_000)]
        try sidecar.write(change { $0.entries = entries })
        #expect(Set(try sidecar.entries(ids: [id(1), id(3), id(9)])) == [entries[0], entries[2]])
        #expect(Set(try sidecar.entries(root: "Item", keys: [1, 2, 3])) == [entries[0], entries[1]])
        #expect(Set(try sidecar.entries(root: "Item", keys: [2, 900_000])) == [entries[1], entries[3]])
        #expect(try sidecar.entries(root: "Tag", keys: [2]) == [entries[2]])
        #expect(try sidecar.entries(root: "Other", keys: [2]) == [])
        #expect(try sidecar.identifiers(root: "Item", keys: [1, 3, 2, 2]) == [1: id(1), 2: id(2)])
        #expect(try sidecar.keys(root: "Item") == [1, 2, 900_000])
    }

    @Test func entriesAreReplacedAndRemoved() throws {
        let sidecar = try Sidecar.inMemory()
        try sidecar.write(change { $0.entries = [entry(1), entry(2)] })
        try sidecar.write(
            change {
                $0.entries = [entry(1, key: 50, ticks: 9 << 20)]
                $0.removedEntries = [id(2)]
            })
        #expect(try sidecar.entries(ids: [id(1), id(2)]) == [entry(1, key: 50, ticks: 9 << 20)])
        #expect(try sidecar.counts().entries == 1)
    }

    @Test func manyEntriesAreWrittenAndReplacedByBatches() throws {
        let folder = try TemporaryFolder()
        let sidecar = try Sidecar.open(beside: folder("Store.sqlite"))
        let numbers = Array(1...Sidecar.directLimit + 100)
        try sidecar.write(change { $0.entries = numbers.map { entry($0) } })
        #expect(try sidecar.counts().entries == numbers.count)
        try sidecar.write(
            change {
                $0.entries = numbers.dropFirst(50).map { entry($0, ticks: 5 << 20) }
                $0.removedEntries = (1...50).map(id)
            })
        #expect(try sidecar.counts().entries == numbers.count - 50)
        var found: [SidecarEntry] = []
        try sidecar.forEachEntry(portion: 99) { found += $0 }
        #expect(found == numbers.dropFirst(50).map { entry($0, ticks: 5 << 20) })
        let reopened = try Sidecar.open(beside: folder("Store.sqlite"))
        #expect(Set(try reopened.entries(ids: numbers.map(id))) == Set(found))
    }

    /// Entries as bytes are those of states, whether they are written one by one or by a batch.
    @Test(arguments: [3, Sidecar.directLimit + 1])
    func newEntriesAreReadAsEntries(count: Int) throws {
        let rules = try SyncRules(model: CaptureStack.shop())
        let unit = try #require(rules["Unit"])
        let sidecar = try Sidecar.inMemory()
        let stamp = Stamp(ticks: 1 << 20, device: device)
        var state = ObjectState(id: id(0), entity: .init("Unit", stamp))
        (state.born, state.created) = (stamp, stamp)
        for value in unit.values { state.properties[value.name] = .last(stamp, .stored) }
        let prefix = EncodedEntry.prefix(sidecar.encoded(state), unit)
        let root = Int32(sidecar.number(of: "Unit"))
        var change = SidecarChange()
        change.entries = [entry(100_000)]
        for number in 1...count {
            change.newEntries.append(
                id(number), EntryPlace.make(root: root, key: Int64(number)), prefix,
                unit.values.indices.map { UInt32(number + $0) })
        }
        try sidecar.write(change)
        #expect(try sidecar.counts().entries == count + 1)
        let found = try sidecar.entries(root: "Unit", keys: [1, Int64(count)]).sorted { $0.id < $1.id }
        #expect(found.map(\.id) == [id(1), id(count)])
        #expect(found[1].state.properties == state.properties && found[1].state.created == stamp)
        let digests = try #require(ValueDigests(found[1].digests, unit))
        #expect(unit.values.indices.allSatisfy { digests[$0] == UInt32(count + $0) })
    }

    /// Many IDs: those of one time are a range, others are looked up one by one.
    @Test func manyEntriesAreFoundByIDsNearAndFar() throws {
        let sidecar = try Sidecar.inMemory()
        let near = (1...3_000).map { entry($0) }
        try sidecar.write(change { $0.entries = near })
        let wanted = (0..<700).map { id($0 * 4 + 1) }
        #expect(Set(try sidecar.entries(ids: wanted).map(\.id)) == Set(wanted))
        // Nine in ten do not exist.
        let missing = (0..<1_000).map { GlobalID(high: 9, low: UInt64($0)) }
        #expect(
            Set(try sidecar.entries(ids: missing + wanted.prefix(600) + [id(3_000)]).map(\.id))
                == Set(wanted.prefix(600) + [id(3_000)]))
        #expect(try sidecar.entries(ids: missing).isEmpty)
    }

    @Test(arguments: [10, Sidecar.directLimit + 1])
    func aWriteThatFailsChangesNothing(count: Int) throws {
        let folder = try TemporaryFolder()
        let sidecar = try Sidecar.open(beside: folder("Store.sqlite"))
        try sidecar.write(change { $0.entries = [entry(1)] })
        sidecar.willCommit = { throw Thrown() }
        var settings = sidecar.settings
        settings.lastSegment = 5
        let large = change {
            $0.entries = (1...count).map { entry($0, ticks: 7 << 20) }
            $0.settings = settings
            $0.outgoing = [OutgoingFile(name: .segment(5), number: 5, bytes: Data([1]))]
        }
        #expect(throws: Thrown.self) { try sidecar.write(large) }
        sidecar.willCommit = nil
        for sidecar in [sidecar, try Sidecar.open(beside: folder("Store.sqlite"))] {
            #expect(try sidecar.entries(ids: (1...count).map(id)) == [entry(1)])
            #expect(sidecar.settings.lastSegment == 0)
            #expect(try sidecar.outgoingNames() == [])
        }
        try sidecar.write(large)
        #expect(try sidecar.counts() == SidecarCounts(entries: count, outgoing: 1))
        #expect(sidecar.settings.lastSegment == 5)
    }

    /// The process dies after the transaction and before the log is moved.
    @Test func theRedoLogIsFinishedByTheNextOpen() throws {
        let folder = try TemporaryFolder()
        let count = Sidecar.directLimit + 20
        do {
            let sidecar = try Sidecar.open(beside: folder("Store.sqlite"))
            try sidecar.write(change { $0.entries = [entry(1), entry(count + 1)] })
            sidecar.didCommit = { throw Thrown() }
            try sidecar.write(
                change {
                    $0.entries = (1...count).map { entry($0, ticks: 3 << 20) }
                    $0.removedEntries = [id(count + 1)]
                })
        }
        let sidecar = try Sidecar.open(beside: folder("Store.sqlite"))
        #expect(try sidecar.counts().entries == count)
        #expect(try sidecar.entries(ids: [id(1)]) == [entry(1, ticks: 3 << 20)])
        #expect(try sidecar.entries(ids: [id(count + 1)]) == [])
    }

    // MARK: Settings and queues

    @Test func settingsAndNamesSurviveReopening() throws {
        let folder = try TemporaryFolder()
        let sidecar = try Sidecar.open(beside: folder("Store.sqlite"), deviceName: "Kitchen")
        #expect(sidecar.isNew && sidecar.url?.lastPathComponent == "Store.sqlite-sync")
        var settings = sidecar.settings
        (settings.clock, settings.token, settings.lastSegment) = (9 << 30, ["A": 4], 12)
        (settings.seedAge, settings.storeIdentifier) = (.prevailing, "A")
        settings.seen.insert(device, 3...5)
        (settings.appliedBegun, settings.modelHash, settings.extras) = (Data([1]), Data([2]), ["x": Data([3])])
        let number = sidecar.number(of: "Zebra")
        try sidecar.write(change { $0.settings = settings })
        let reopened = try Sidecar.open(beside: folder("Store.sqlite"))
        #expect(!reopened.isNew && reopened.settings == settings && reopened.settings.deviceName == "Kitchen")
        #expect(reopened.number(of: "Zebra") == number)
    }

    @Test func filesWaitUntilTheyAreSent() throws {
        let sidecar = try Sidecar.inMemory()
        let blob = FileName.blob(Data(repeating: 7, count: 32))
        let files = [
            OutgoingFile(name: .segment(2), number: 2, bytes: Data([2])),
            OutgoingFile(name: .segment(1), number: 1, bytes: Data([1])),
            OutgoingFile(name: blob, number: 1, bytes: Data(repeating: 9, count: 200_000)),
        ]
        try sidecar.write(change { $0.outgoing = files })
        // A name that waits already stays as it is.
        try sidecar.write(change { $0.outgoing = [OutgoingFile(name: .segment(1), number: 1, bytes: Data([8]))] })
        #expect(try sidecar.outgoingNames() == [blob, .segment(1), .segment(2)])
        #expect(try sidecar.outgoing(.segment(1))?.bytes == Data([1]))
        #expect(try sidecar.outgoing(blob) == files[2])
        try sidecar.write(change { $0.sent = [.segment(1), blob] })
        #expect(try sidecar.outgoingNames() == [.segment(2)])
        #expect(try sidecar.outgoing(blob) == nil)
    }

    @Test func parkedStatesAreFoundByWhatTheyWaitFor() throws {
        let sidecar = try Sidecar.inMemory()
        func parked(_ number: Int, _ waitsFor: Int?, _ text: String) -> ParkedState {
            var state = entry(number).state
            state.properties["name"] = .last(Stamp(ticks: 5 << 20, device: device), .string(text))
            return ParkedState(state: state, waitsFor: waitsFor.map(id), reason: "reference")
        }
        try sidecar.write(change { $0.parked = [parked(1, 5, "a"), parked(2, 6, "b"), parked(3, nil, "c")] })
        try sidecar.write(change { $0.parked = [parked(2, 5, "d")] })
        #expect(try sidecar.parked(waitingFor: [id(5), id(7)]) == [parked(1, 5, "a"), parked(2, 5, "d")])
        #expect(try sidecar.parked(of: [id(3)]) == [parked(3, nil, "c")])
        try sidecar.write(change { $0.unparked = [id(1), id(2)] })
        #expect(try sidecar.parked() == [parked(3, nil, "c")])
    }

    @Test func theJournalAndPeersAreKept() throws {
        let sidecar = try Sidecar.inMemory()
        func conflict(_ date: UInt64) -> SidecarConflict {
            SidecarConflict(
                serial: UUID(), object: id(1), entityName: "Item", property: "name",
                losing: .init(stamp: Stamp(ticks: 1 << 20, device: device), value: .string("old")),
                winning: .init(stamp: Stamp(ticks: 2 << 20, device: device), value: .null), date: date, reason: "later")
        }
        let conflicts = [conflict(1), conflict(3), conflict(2)]
        var received = VersionVector()
        received.insert(device, 1...4)
        var peer = SidecarPeer(
            device: device, name: "Phone", received: received, hello: 3, lease: 1000, seen: 77, hasLeft: false)
        try sidecar.write(
            change {
                $0.conflicts = conflicts
                $0.peers = [peer]
            })
        #expect(try sidecar.conflicts() == [conflicts[1], conflicts[2], conflicts[0]])
        #expect(try sidecar.conflicts(limit: 1) == [conflicts[1]])
        #expect(try sidecar.peers() == [peer])
        peer.hasLeft = true
        try sidecar.write(
            change {
                $0.peers = [peer]
                $0.removedConflicts = [conflicts[1].serial]
            })
        #expect(try sidecar.peers() == [peer])
        #expect(try sidecar.conflicts() == [conflicts[2], conflicts[0]])
        try sidecar.write(change { $0.removedPeers = [device] })
        #expect(try sidecar.counts() == SidecarCounts(conflicts: 2))
    }

    // MARK: Files that are none

    @Test(arguments: ["text", "torn", "other store"])
    func aFileThatIsNoSidecarIsAClearError(kind: String) throws {
        let folder = try TemporaryFolder()
        let url = Sidecar.url(beside: folder("Store.sqlite"))
        switch kind {
        case "text": try Data("hello, this is no database at all".utf8).write(to: url)
        case "torn":
            do {
                let sidecar = try Sidecar.open(beside: folder("Store.sqlite"))
                try sidecar.write(change { $0.entries = (1...900).map { entry($0) } })
            }
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
            let bytes = try Data(contentsOf: url)
            try (bytes.prefix(100) + Data(repeating: 0x55, count: 8_000)).write(to: url)
        default:
            let model = ModelMaking.model(ModelMaking.entity("Book", ModelMaking.attribute("title")))
            _ = try NSPersistentStoreCoordinator(managedObjectModel: model).addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        }
        let error = try #require(throws: CocoaError.self) { try Sidecar.open(beside: folder("Store.sqlite")) }
        #expect(error.code.rawValue == 134080)
        #expect(error.localizedDescription.contains(url.path))
        #expect(error.localizedDescription.contains("Move it and its -wal and -shm files away"))
    }

    @Test func aSidecarOfANewerVersionIsRefused() throws {
        let folder = try TemporaryFolder()
        do {
            let sidecar = try Sidecar.open(beside: folder("Store.sqlite"))
            try sidecar.write(SidecarChange())
            try sidecar.perform { context in
                let row = try context.fetch(NSFetchRequest<SettingsObject>(entityName: "Settings")).first
                row?.format = SidecarModel.format + 1
                try context.save()
            }
        }
        let error = try #require(throws: CocoaError.self) { try Sidecar.open(beside: folder("Store.sqlite")) }
        #expect(error.localizedDescription.contains("newer version"))
    }
}
