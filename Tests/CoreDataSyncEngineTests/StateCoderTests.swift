import Foundation
import TestSupport
import Testing

@testable import CoreDataSyncEngine

@Suite struct StateCoderTests {
    private let device = DeviceID(high: 1, low: 2)
    private let id = GlobalID(high: 3, low: 4)
    /// In November 2026.
    private var created: Stamp { Stamp(ticks: 817_000_000_000 << 16, device: device) }

    private func newObject(_ names: [String], _ value: SyncValue = .stored) -> ObjectState {
        var state = ObjectState(id: id, entity: .init("Item", created))
        (state.born, state.created) = (created, created)
        for name in names { state.properties[name] = .last(created, value) }
        return state
    }

    @Test(arguments: Trials.seeds(40))
    func decodesWhatItEncoded(seed: UInt64) throws {
        var random = RandomStates(seed: seed)
        var coder = StateCoder()
        for _ in 0..<50 {
            let state = random.state()
            let bytes = coder.encode(state)
            #expect(try coder.decode(bytes, id: state.id) == state, "seed \(seed)")
            // Later names change no bytes that are there.
            #expect(coder.encode(state) == bytes)
        }
        let table = try NameTable(bytes: coder.names.bytes)
        #expect(table == coder.names)
    }

    @Test(arguments: [1, 8, 40])
    func newObjectTakesFourteenBytes(properties: Int) throws {
        var coder = StateCoder()
        let names = (0..<properties).map { "property\($0)" }
        coder.register(["Item"] + names)
        let state = newObject(names)
        let bytes = coder.encode(state)
        #expect(bytes.count <= 14)
        #expect(try coder.decode(bytes, id: id) == state)
    }

    @Test func laterChangeTakesTenBytes() throws {
        var coder = StateCoder()
        var state = newObject((0..<8).map { "property\($0)" })
        let before = coder.encode(state).count
        let later = Stamp(ticks: (created.milliseconds + 86_400_000) << 16 | 3, device: DeviceID(high: 9, low: 9))
        state.properties["property7"] = .last(later, .stored)
        let bytes = coder.encode(state)
        #expect(bytes.count - before <= 10)
        #expect(try coder.decode(bytes, id: id) == state)
    }

    @Test func stateThatNeedsAnotherTableIsAFault() {
        var coder = StateCoder()
        let bytes = coder.encode(newObject(["name"]))
        #expect(throws: FileFault.self) { try StateCoder().decode(bytes, id: id) }
    }

    /// Flags of a state that do not go together, and what follows them.
    @Test(
        arguments: [
            [0x02, 0, 1, 0], [0x04, 0, 1, 0], [0x08, 0, 1, 0], [0x10, 0, 1, 0, 0], [0x80, 0x10, 0, 1, 0],
            [0x10, 0, 1, 0, 1, 0x01, 0], [0x10, 0, 1, 0, 1, 0x07, 2, 0],
            [0x10, 0, 1, 0, 1, 0x07, 0, 1, 0, 0], [0x10, 0, 1, 0, 1, 0x07, 0, 2, 0, 1, 2, 0, 1, 4], [0x00, 5, 1, 0],
            [0x00, 0, 1, 7], [0x00, 0, 0],
            [0x00, 0, 1, 0, 0], [0x01, 0, 1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
        ] as [[UInt8]])
    func partsThatDoNotGoTogetherAreAFault(bytes: [UInt8]) {
        var names = NameTable()
        _ = (names.number(of: "Item"), names.number(of: device))
        #expect(throws: FileFault.self) { try StateCoder(names: names).decode(Data(bytes), id: id) }
    }

    @Test func partsOfANewerMinorVersionAreSkipped() throws {
        var names = NameTable()
        _ = (names.number(of: "Item"), names.number(of: device))
        // Flag `more`, entity 0, a stamp, three bytes that nothing here knows.
        let state = try StateCoder(names: names).decode(Data([0x80, 0x04, 0, 1, 0, 3, 9, 9, 9]), id: id)
        #expect(
            state == ObjectState(id: id, entity: .init("Item", Stamp(ticks: StateLayout.epoch << 16, device: device))))
    }

    @Test func nameKeepsItsNumber() {
        var table = NameTable()
        let numbers: [Int] = ["a", "b", "a"].map { table.number(of: $0) }
        let devices: [Int] = [device, DeviceID(high: 0, low: 0), device].map { table.number(of: $0) }
        #expect(numbers == [0, 1, 0] as [Int])
        #expect(devices == [0, 1, 0] as [Int])
        #expect(table.name(1) == "b" && table.name(2) == nil && table.name(-1) == nil)
        #expect(table.device(0) == device && table.device(2) == nil)
        #expect(table.existingNumber(of: "c") == nil)
    }
}
