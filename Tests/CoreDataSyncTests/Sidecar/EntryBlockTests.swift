import CoreData
import Foundation
import Testing

@testable import CoreDataSync
@testable import CoreDataSyncEngine

/// Entries of new objects that share rows.
@Suite struct EntryBlockTests {
    private let device = DeviceID(high: 1, low: 2)
    private let stamp = Stamp(ticks: 1 << 20, device: DeviceID(high: 1, low: 2))

    private func id(_ number: Int) -> GlobalID { GlobalID(high: 7, low: UInt64(number)) }

    /// The state of a new object.
    private func state(_ number: Int) -> ObjectState {
        var state = ObjectState(id: id(number), entity: .init("Unit", stamp))
        (state.born, state.created) = (stamp, stamp)
        state.properties = ["code": .last(stamp, .stored), "name": .last(stamp, .stored)]
        return state
    }

    private func entry(_ number: Int, _ unit: SyncEntity) -> SidecarEntry {
        var digests = ByteWriter()
        digests.fixed32(unit.signature)
        for value in 0..<2 { digests.fixed32(UInt32(number + value)) }
        return SidecarEntry(
            id: id(number), root: "Unit", key: Int64(number), state: state(number), digests: digests.asData)
    }

    private func unit() throws -> SyncEntity {
        try #require(try SyncRules(model: CaptureStack.shop())["Unit"])
    }

    /// Adds objects of which the sidecar knows nothing yet.
    private func add(_ numbers: some Sequence<Int>, to sidecar: Sidecar, _ unit: SyncEntity) throws {
        var change = SidecarChange()
        let prefix = EncodedEntry.prefix(sidecar.encoded(state(0)), unit)
        let root = Int32(sidecar.number(of: "Unit"))
        for number in numbers {
            change.newEntries.append(
                id(number), EntryPlace.make(root: root, key: Int64(number)), prefix,
                [UInt32(number).littleEndian, UInt32(number + 1).littleEndian])
        }
        try sidecar.write(change)
    }

    private func rows(_ entity: String, _ sidecar: Sidecar) throws -> Int {
        try sidecar.perform { try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: entity)) }
    }

    private func all(_ sidecar: Sidecar, portion: Int) throws -> [SidecarEntry] {
        var found: [SidecarEntry] = []
        try sidecar.forEachEntry(portion: portion) { found += $0 }
        return found
    }

    @Test(arguments: [true, false])
    func newEntriesShareRowsAndAreFoundInThem(isFile: Bool) throws {
        let (folder, unit) = (try TemporaryFolder(), try unit())
        let sidecar = isFile ? try Sidecar.open(beside: folder("Store.sqlite")) : try Sidecar.inMemory()
        // Two saves with keys between one another's, and a few that have rows of their own.
        try add(stride(from: 2, through: 1_400, by: 2), to: sidecar, unit)
        try add(stride(from: 1, through: 1_399, by: 2), to: sidecar, unit)
        try add(2_000...2_009, to: sidecar, unit)
        #expect(try rows("Block", sidecar) == 6 && rows("Entry", sidecar) == 10)
        let numbers = Array(1...1_400) + Array(2_000...2_009)
        let expected = numbers.map { entry($0, unit) }
        for portion in [1, 7, 300, 5_000] { #expect(try all(sidecar, portion: portion) == expected) }
        #expect(try sidecar.counts().entries == numbers.count)
        #expect(try sidecar.keys(root: "Unit") == numbers.map(Int64.init))
        let some = [3, 4, 700, 1_401, 1_999, 2_004]
        let known = some.filter(numbers.contains).map { entry($0, unit) }
        #expect(try sidecar.entries(ids: some.map(id)).sorted { $0.id < $1.id } == known)
        #expect(try sidecar.entries(root: "Unit", keys: some.map(Int64.init)).sorted { $0.id < $1.id } == known)
        #expect(try sidecar.entries(root: "Other", keys: [3]).isEmpty)
        let identifiers = try sidecar.identifiers(root: "Unit", keys: some.map(Int64.init))
        #expect(identifiers == Dictionary(uniqueKeysWithValues: known.map { ($0.key, $0.id) }))
        if isFile {
            #expect(
                try all(Sidecar.open(reading: Sidecar.url(beside: folder("Store.sqlite"))), portion: 100) == expected)
        }
    }

    @Test(arguments: [3, Sidecar.directLimit + 40])
    func anEntryLeavesItsBlockWhenItIsWrittenAgain(count: Int) throws {
        let (folder, unit) = (try TemporaryFolder(), try unit())
        let sidecar = try Sidecar.open(beside: folder("Store.sqlite"))
        try add(1...1_000, to: sidecar, unit)
        let later = Stamp(ticks: 9 << 20, device: device)
        var change = SidecarChange()
        change.entries = (1...count).map { number in
            var changed = entry(number, unit)
            changed.state.properties["name"] = .last(later, .stored)
            if number == 2 { (changed.key, changed.formerKey) = (0, 2) }
            return changed
        }
        change.removedEntries = [id(990), id(1_000)]
        try sidecar.write(change)
        let left = Array(count + 1...1_000).filter { ![990, 1_000].contains($0) }.map { entry($0, unit) }
        for sidecar in [sidecar, try Sidecar.open(beside: folder("Store.sqlite"))] {
            #expect(try all(sidecar, portion: 90) == change.entries + left)
            #expect(try sidecar.counts().entries == 998)
            #expect(try sidecar.entries(root: "Unit", keys: [1, 2, 990]) == [change.entries[0]])
        }
        // Nothing is left of blocks without entries.
        change = SidecarChange()
        change.removedEntries = (1...1_000).map(id)
        try sidecar.write(change)
        #expect(try rows("Block", sidecar) == 0 && rows("Entry", sidecar) == 0)
        #expect(try all(sidecar, portion: 90).isEmpty)
    }

    @Test func aWriteThatFailsLeavesTheBlocks() throws {
        let unit = try unit()
        let sidecar = try Sidecar.inMemory()
        try add(1...100, to: sidecar, unit)
        sidecar.willCommit = { throw SidecarTests.Thrown() }
        var change = SidecarChange()
        change.removedEntries = [id(5)]
        #expect(throws: SidecarTests.Thrown.self) { try sidecar.write(change) }
        #expect(throws: SidecarTests.Thrown.self) { try add(101...200, to: sidecar, unit) }
        sidecar.willCommit = nil
        #expect(try all(sidecar, portion: 90) == (1...100).map { entry($0, unit) })
    }

    @Test func anotherProcessSeesWhatLeftABlock() throws {
        let (folder, unit) = (try TemporaryFolder(), try unit())
        let sidecar = try Sidecar.open(beside: folder("Store.sqlite"))
        try add(1...100, to: sidecar, unit)
        let other = try Sidecar.open(beside: folder("Store.sqlite"))
        #expect(try other.counts().entries == 100)
        var change = SidecarChange()
        change.removedEntries = [id(1), id(100)]
        try sidecar.write(change)
        try other.reload(isExclusive: true)
        #expect(try all(other, portion: 90) == (2...99).map { entry($0, unit) })
    }

    @Test func aSidecarOfTheFormerFormatIsReadAndMigrated() throws {
        let (folder, unit) = (try TemporaryFolder(), try unit())
        let url = Sidecar.url(beside: folder("Store.sqlite"))
        do {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SidecarModel.withoutBlocks)
            _ = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                var coder = StateCoder()
                coder.register(["Unit"])
                for number in 1...3 {
                    let (row, known) = (EntryObject(context: context), entry(number, unit))
                    (row.identifier, row.place) = (known.id.uuid, EntryPlace.make(root: 0, key: known.key))
                    row.content = EncodedEntry.content(coder.encode(known.state), [UInt8](known.digests ?? Data()))
                }
                let settings = SettingsObject(context: context)
                (settings.format, settings.names) = (2, coder.names.bytes)
                settings.content = try SidecarSettings(device: device, deviceName: "Old").content()
                try context.save()
            }
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
        let expected = (1...3).map { entry($0, unit) }
        let before = try Data(contentsOf: url)
        #expect(try all(Sidecar.open(reading: url), portion: 90) == expected)
        #expect(try Data(contentsOf: url) == before)
        let sidecar = try Sidecar.open(at: url)
        #expect(try all(sidecar, portion: 90) == expected && sidecar.settings.deviceName == "Old")
        try add(4...103, to: sidecar, unit)
        #expect(try all(sidecar, portion: 90) == expected + (4...103).map { entry($0, unit) })
    }

    // MARK: Where blocks lie

    /// Any blocks, also such that lie between the entries of others.
    @Test(arguments: 1...20)
    func theDirectoryFindsEachBlock(seed: UInt64) {
        var numbers = TestNumbers(seed)
        let blocks = (0..<Int(numbers.next() % 12)).map { _ in
            let (first, place) = (Int(numbers.next() % 100), Int64(numbers.next() % 100))
            return BlockDirectory.Block(
                range: .init(
                    first: id(first), last: id(first + Int(numbers.next() % 40)), firstPlace: place,
                    lastPlace: place + Int64(numbers.next() % 40)), count: 2)
        }
        let directory = BlockDirectory(blocks)
        #expect(directory.blocks.count == blocks.count && directory.count == 2 * blocks.count)
        for wanted in [[10], [5, 6, 7, 60], Array(0..<150), []] {
            let byID = directory.blocks.indices.filter { number in
                let range = directory.blocks[number].range
                return wanted.contains { id($0) >= range.first && id($0) <= range.last }
            }
            #expect(directory.numbers(of: wanted.map(id)) == byID)
            let byPlace = directory.blocks.indices.filter { number in
                let range = directory.blocks[number].range
                return wanted.contains { Int64($0) >= range.firstPlace && Int64($0) <= range.lastPlace }
            }
            #expect(directory.numbers(ofPlaces: wanted.map(Int64.init)) == byPlace)
        }
    }
}

private struct TestNumbers {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }
}
