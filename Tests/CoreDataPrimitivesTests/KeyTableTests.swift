import TestSupport
import Testing

@testable import CoreDataPrimitives

@Suite struct KeyTableTests {
    /// Random insertions, changes and removals against a dictionary; keys are dense, sparse and negative.
    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func behavesAsADictionary(seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        let table = KeyTable()
        var model: [Int64: UInt] = [:]
        let keys: [Int64] =
            (1...200).map { $0 } + (0..<50).map { $0 * 1024 + 5 } + [Int64.max, .min, -1, -17, 0]
        for step in 1...20_000 {
            let key = numbers.pick(keys)
            switch numbers.below(5) {
            case 0, 1: #expect(table.set(key, UInt(step)) == model.updateValue(UInt(step), forKey: key) ?? 0)
            case 2: #expect(table.remove(key) == model.removeValue(forKey: key) ?? 0)
            case 3:
                let word = numbers.below(3) == 0 ? UInt(step) : model[key] ?? 1
                let isThere = model[key] == word
                if isThere { model[key] = nil }
                #expect(table.remove(key, ifWord: word) == isThere)
            default: #expect(table.word(key) == model[key] ?? 0)
            }
            #expect(table.count == model.count)
        }
        var all: [Int64: UInt] = [:]
        table.forEach { all[$0] = $1 }
        #expect(all == model)
        table.removeAll()
        #expect(table.count == 0 && table.word(1) == 0)
    }

    @Test func emptyTablesHaveNothing() {
        let table = KeyTable()
        #expect(table.word(1) == 0)
        #expect(table.word(0) == 0)
        #expect(table.remove(1) == 0)
    }

    /// Pages that became empty are given back, and those behind them are still found.
    @Test func manyPagesComeAndGo() {
        let table = KeyTable()
        for key in stride(from: Int64(0), to: 160_000, by: 16) { table.set(key, 1) }
        for key in stride(from: Int64(0), to: 160_000, by: 32) { #expect(table.remove(key) == 1) }
        #expect(table.count == 5_000)
        for key in stride(from: Int64(0), to: 160_000, by: 16) {
            #expect(table.word(key) == (key % 32 == 0 ? 0 : 1))
        }
    }
}
