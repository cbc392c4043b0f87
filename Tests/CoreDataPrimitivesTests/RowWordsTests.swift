import Testing

@testable import CoreDataPrimitives

@Suite struct RowWordsTests {
    func row(columns: Int) -> RowSnapshot {
        let builder = RowBuilder(columnCount: columns)
        builder.setInteger(-5, at: 0)
        builder.setReal(2.5, at: 1)
        builder.setText("Milch & Öl", at: columns - 2)
        builder.setText("", at: columns - 1)
        return builder.finish(primaryKey: 7, version: 3, entity: 65)
    }

    /// A view finds header and words by arithmetic; here that agrees with the row itself.
    @Test(arguments: [5, 64, 65, 200]) func aViewReadsWhatTheRowHolds(columns: Int) {
        let row = row(columns: columns)
        let word = row.retainedWord()
        defer { RowSnapshot.release(word) }
        let view = RowView(word: word)
        #expect(view.primaryKey == 7 && view.version == 3 && view.entity == 65)
        for column in 0..<columns { #expect(view.isNull(column) == row.isNull(column)) }
        #expect(view.integer(0) == -5 && view.real(1) == 2.5 && view.integer(2) == 0)
        #expect(view.text(columns - 2) == "Milch & Öl" && view.text(columns - 1) == "" && view.text(2) == nil)
    }

    /// A number that nobody has asked for is NULL, is told from one, survives a copy, and is no difference.
    @Test func aNumberMayBeUnasked() {
        let kinds: [ColumnKind] = [.integer, .integer, .text]
        func row(_ fill: (RowBuilder) -> Void) -> RowSnapshot {
            let builder = RowBuilder(columnCount: kinds.count)
            fill(builder)
            return builder.finish(primaryKey: 1, version: 1, entity: 0)
        }
        let unasked = row {
            $0.setUnasked(at: 0)
            $0.setText("a", at: 2)
        }
        let copy = row { builder in
            for (column, kind) in kinds.enumerated() { builder.copy(column, kind: kind, from: unasked) }
        }
        for row in [unasked, copy] {
            #expect(row.isNull(0) && row.isUnreadable(0) && row.isNull(1) && !row.isUnreadable(1))
            #expect(row.text(2) == "a")
        }
        let cases: [(fill: (RowBuilder) -> Void, isEqual: Bool)] = [
            ({ $0.setText("a", at: 2) }, true),
            (
                {
                    $0.setInteger(5, at: 0)
                    $0.setText("a", at: 2)
                }, true
            ),
            (
                {
                    $0.setInteger(5, at: 0)
                    $0.setText("b", at: 2)
                }, false
            ),
            (
                {
                    $0.setInteger(5, at: 1)
                    $0.setText("a", at: 2)
                }, false
            ),
        ]
        for (fill, isEqual) in cases {
            let other = row(fill)
            #expect(unasked.withView { view in other.withView { view.isEqual(to: $0, kinds: kinds) } } == isEqual)
        }
        #expect(
            !row {
                $0.setUnasked(at: 0)
                $0.setInteger(5, at: 0)
            }.isUnreadable(0))
    }

    @Test func whoHasAHeldRowHoldsItOnce() {
        let row = row(columns: 5)
        let word = row.retainedWord()
        do {
            let held = HeldRow(row)
            #expect(held.view.primaryKey == 7 && RowSnapshot.holders(of: word) == 2)
        }
        #expect(RowSnapshot.holders(of: word) == 1)
        #expect(HeldRow(row).snapshot().isIdentical(to: row) && RowSnapshot.holders(of: word) == 1)
        #expect(HeldRow.word(of: HeldRow(taking: word)) == word && RowSnapshot.holders(of: word) == 1)
        #expect(HeldRow.word(of: HeldRow(word: 0)) == 0)
        RowSnapshot.release(word)
    }

    @Test func aListHoldsWhatNobodyTookOut() {
        let first = row(columns: 5).retainedWord()
        let second = row(columns: 5).retainedWord()
        do {
            let list = RowList()
            for word in [first, second] {
                RowSnapshot.retain(word)
                if let row = RowSnapshot(word: word) { list.append(row) }
                RowSnapshot.release(word)
            }
            #expect(list.count == 2 && list.word(1) == second)
            #expect(RowSnapshot.holders(of: first) == 2)
            let taken = list.take(0)
            #expect(!list.hasRow(0) && RowSnapshot.holders(of: first) == 2)
            #expect(HeldRow.word(of: taken) == first)
        }
        #expect(RowSnapshot.holders(of: first) == 2, "handed on as a word")
        RowSnapshot.release(first)
        #expect(RowSnapshot.holders(of: second) == 1)
        RowSnapshot.release(first)
        RowSnapshot.release(second)
    }
}
