import Foundation
import Testing

@testable import CoreDataPrimitives

/// Rows that one builder made, whatever their sizes, hold what was set, in whatever order they are given up.
@Suite struct RowSlabTests {
    static let columns = 3

    func text(_ index: Int, _ length: Int) -> String { String(repeating: "\(index % 10)", count: length) }

    func rows(_ lengths: [Int], of builder: RowBuilder) -> [UInt] {
        lengths.enumerated().map { index, length in
            builder.setInteger(Int64(index), at: 0)
            if length > 0 { builder.setText(text(index, length), at: 2) }
            return builder.finishHeld(primaryKey: Int64(index), version: Int32(length), entity: 1).intoWord()
        }
    }

    func check(_ word: UInt, _ index: Int, _ length: Int) {
        let row = RowView(word: word)
        #expect(row.primaryKey == Int64(index) && row.version == Int32(length) && row.columnCount == Self.columns)
        #expect(row.integer(0) == Int64(index) && row.isNull(1))
        #expect(row.text(2) == (length > 0 ? text(index, length) : nil))
    }

    /// As a row of more than 2 GiB does, with a smaller limit.
    @Test(arguments: [64, 100, 1 << 12])
    func whatARowHasNoRoomForIsKeptBesideIt(limit: Int) {
        let kinds: [ColumnKind] = [.text, .blob, .text]
        let builder = RowBuilder(columnCount: Self.columns, byteLimit: limit)
        let copies = RowBuilder(columnCount: Self.columns, byteLimit: limit)
        for length in [1, 40, 70, 3000, 5000, 2] {
            let (first, second) = (text(1, length), text(2, length))
            builder.setText(first, at: 0)
            builder.setBytes(UnsafeRawBufferPointer(start: nil, count: 0), at: 1)
            builder.setText(second, at: 2)
            let row = builder.finish(primaryKey: 1, version: 1, entity: 1)
            row.withView { copies.copy(0, kind: .text, from: $0) }
            copies.setUnreadable(UnsafeRawBufferPointer(start: nil, count: 0), at: 1)
            row.withView { copies.copy(2, kind: .text, from: $0) }
            let part = copies.finish(primaryKey: 1, version: 1, entity: 1)
            row.withView { view in kinds.withUnsafeBufferPointer { copies.copy(view, kinds: $0) } }
            let whole = copies.finish(primaryKey: 1, version: 1, entity: 1)
            for row in [row, part, whole] { #expect(row.text(0) == first && row.text(2) == second) }
            #expect(row.withBytes(1) { $0.isEmpty } && whole.isEqual(to: row, at: 2, kind: .text))
        }
    }

    /// Small rows that share a slab, rows that do not fit what is left of one, rows larger than any slab.
    static let sizes: [[Int]] = [
        [0], [7], Array(repeating: 9, count: 200), (0..<300).map { $0 % 41 },
        [5, 5000, 5, 5, 5000, 600, 500, 400, 300, 5],
        (0..<60).map { $0 * 37 }, [100_000, 1, 100_000, 1],
    ]

    @Test(arguments: sizes) func rowsHoldWhatWasSet(lengths: [Int]) {
        var words = rows(lengths, of: RowBuilder(columnCount: Self.columns))
        for (index, length) in lengths.enumerated() { check(words[index], index, length) }
        // Every other one goes; the rest stays as it is.
        for index in stride(from: 0, to: words.count, by: 2) {
            RowSnapshot.release(words[index])
            words[index] = 0
        }
        for (index, length) in lengths.enumerated() where words[index] != 0 { check(words[index], index, length) }
        for word in words { RowSnapshot.release(word) }
    }

    @Test func smallRowsShareAnAllocationAndLargeOnesDoNot() {
        let builder = RowBuilder(columnCount: Self.columns)
        let words = rows(Array(repeating: 8, count: 50) + [4000, 8], of: builder)
        let slabs = words.map { RowSnapshot.slab(RowView(word: $0).header).toOpaque() }
        #expect(Set(slabs).count < 10)
        #expect(slabs[51] == slabs[49] && slabs[50] != slabs[49])
        for word in words { RowSnapshot.release(word) }
    }

    @Test func aSlabGoesWithTheLastOfItsRows() throws {
        weak var slab: RowSlab?
        var words: [UInt] = []
        var snapshot: RowSnapshot?
        do {
            words = rows(Array(repeating: 8, count: 3), of: RowBuilder(columnCount: Self.columns))
            let last = try #require(RowSnapshot(word: words[2]))
            slab = last.slab
            snapshot = last
        }
        words.forEach { RowSnapshot.release($0) }
        #expect(slab != nil && snapshot?.integer(0) == 2)
        // A word keeps it again after there was none.
        let word = try #require(snapshot).retainedWord()
        snapshot = nil
        #expect(slab != nil)
        check(word, 2, 8)
        RowSnapshot.release(word)
        #expect(slab == nil)
    }

    /// What is set more than once, and what comes before the bytes that need another place, is not lost.
    @Test func aRowMovesWhileItIsMade() {
        let builder = RowBuilder(columnCount: Self.columns)
        let first = rows([10], of: builder)
        builder.setText("short", at: 1)
        builder.setInteger(41, at: 0)
        builder.setText(text(3, 3000), at: 2)
        builder.setInteger(42, at: 0)
        let row = builder.finish(primaryKey: 1, version: 1, entity: 0)
        #expect(row.integer(0) == 42 && row.text(1) == "short" && row.text(2) == text(3, 3000))
        RowSnapshot.release(first[0])
    }

    /// What a store has and cannot read is NULL, and known from what is not there, in the row and in copies of it.
    @Test func whatCannotBeReadIsKept() {
        let builder = RowBuilder(columnCount: 3)
        let stored = Array("\u{2}a file\u{0}".utf8)
        builder.setBytes(UnsafeRawBufferPointer(start: nil, count: 0), at: 0)
        stored.withUnsafeBytes { builder.setUnreadable($0, at: 1) }
        let row = builder.finish(primaryKey: 1, version: 1, entity: 0)
        for column in 0..<3 { builder.copy(column, kind: .blob, from: row) }
        let copy = builder.finish(primaryKey: 1, version: 2, entity: 0)
        row.withView { view in
            [ColumnKind.blob, .blob, .blob].withUnsafeBufferPointer { builder.copy(view, kinds: $0) }
        }
        let whole = builder.finish(primaryKey: 1, version: 3, entity: 0)
        for row in [row, copy, whole] {
            #expect((0..<3).map { row.isNull($0) } == [false, true, true])
            #expect((0..<3).map { row.isUnreadable($0) } == [false, true, false])
            #expect(row.withBytes(1) { Array($0) } == stored)
            #expect(row.isEqual(to: copy, at: 1, kind: .blob))
        }
        let empty = builder.finish(primaryKey: 1, version: 4, entity: 0)
        #expect(!empty.isEqual(to: row, at: 1, kind: .blob))
        #expect(!empty.isUnreadable(1))
    }

    @Test func manyThreadsHoldAndGiveUpRowsOfOneSlab() async {
        let words = rows((0..<64).map { $0 % 20 + 1 }, of: RowBuilder(columnCount: Self.columns))
        await withTaskGroup(of: Int64.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var sum: Int64 = 0
                    for _ in 0..<200 {
                        for word in words {
                            RowSnapshot.retain(word)
                            if let row = RowSnapshot(word: word) { sum += row.integer(0) }
                            RowSnapshot.release(word)
                        }
                    }
                    return sum
                }
            }
            for await sum in group { #expect(sum == 200 * 63 * 64 / 2) }
        }
        for word in words {
            #expect(RowSnapshot.holders(of: word) == 1)
            RowSnapshot.release(word)
        }
    }
}
