import Foundation
import Testing

@testable import CoreDataSyncEngine

/// Which values of new objects are nil, in a segment.
@Suite struct NilNamesTests {
    private static let table: NameTable = {
        var table = NameTable()
        for name in ["Item", "a", "b", "c"] { _ = table.number(of: name) }
        return table
    }()

    @Test(
        arguments: [
            ([0], true), ([1, 0, 0], true), ([1, 0, 2, 1, 2], true), ([2, 0, 1, 1, 1, 1, 2], true),
            ([1, 0, 2, 2, 1], false), ([1, 0, 2, 1, 1], false), ([2, 0, 1, 1, 0, 1, 2], false), ([1, 4, 0], false),
            ([1, 0, 1, 4], false), ([1, 0, 2, 1], false), ([9, 0, 0], false), ([1, 0, 0, 0], false),
        ] as [([UInt8], Bool)])
    func listsAreInOrderAndThereOnce(bytes: [UInt8], isRead: Bool) {
        let names = try? read(bytes)
        #expect((names != nil) == isRead)
    }

    private func read(_ bytes: [UInt8]) throws -> NilNames {
        var reader = ByteReader(bytes)
        let names = try NilNames(from: &reader, Self.table)
        try reader.finish()
        return names
    }

    /// A few bytes must not stand for many values in each of many states.
    @Test func longListsAreLeftOutAndRefused() {
        var names = NilNames()
        let list = (0...NilNames.limit).map { "n\($0)" }
        names["Item"] = list
        #expect(names["Item"] == nil)
        names["Item"] = list.dropLast()
        #expect(names["Item"]?.count == NilNames.limit)
        var (table, writer) = (NameTable(), ByteWriter())
        names.write(to: &writer, &table)
        let sorted = list.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        var hostile = ByteWriter()
        hostile.varint(1)
        hostile.varint(table.number(of: "Item"))
        hostile.varint(list.count)
        for name in sorted { hostile.varint(table.number(of: name)) }
        let (allowed, tooLong) = (writer, hostile)
        #expect(throws: Never.self) {
            var reader = ByteReader(allowed.bytes)
            _ = try NilNames(from: &reader, table)
        }
        #expect(throws: FileFault.self) {
            var reader = ByteReader(tooLong.bytes)
            _ = try NilNames(from: &reader, table)
        }
    }

    @Test func newObjectsAreCompleted() {
        let stamp = Stamp(ticks: 5, device: FileTests.device)
        var names = NilNames()
        names["Item"] = ["b", "a"]
        var state = ObjectState(id: RandomStates.ids[0], entity: .init("Item", stamp))
        state.properties["a"] = .last(stamp, .integer(1))
        #expect(state.completed(names) == state)
        state.created = stamp
        #expect(state.completed(names).properties == ["a": .last(stamp, .integer(1)), "b": .last(stamp, .null)])
        state.entity.name = "Unit"
        #expect(state.completed(names) == state)
    }
}
