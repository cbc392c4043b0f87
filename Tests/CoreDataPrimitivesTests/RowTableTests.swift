import TestSupport
import Testing

@testable import CoreDataPrimitives

@Suite struct RowTableTests {
    /// Random insertions, changes and removals against a dictionary; keys are dense, sparse and negative.
    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func behavesAsADictionary(seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        var table = RowTable<Int>()
        var model: [Int64: Int] = [:]
        let keys: [Int64] =
            (1...200).map { $0 } + (0..<50).map { $0 * 1024 + 5 } + [Int64.max, .min, -1, -17]
        for step in 0..<20_000 {
            let key = numbers.pick(keys)
            switch numbers.below(5) {
            case 0, 1:
                table.set(key, step)
                model[key] = step
            case 2:
                #expect(table.remove(key) == model.removeValue(forKey: key))
            case 3:
                let changed: Int? = table.update(key) { value in
                    value += 1
                    return value
                }
                model[key]? += 1
                #expect(changed == model[key])
            default:
                #expect(table[key] == model[key])
            }
            #expect(table.count == model.count)
        }
        var all: [Int64: Int] = [:]
        table.forEach { all[$0] = $1 }
        #expect(all == model)
        table.removeAll()
        #expect(table.count == 0 && table[1] == nil)
    }

    @Test func emptyTablesHaveNothing() {
        var table = RowTable<String>()
        #expect(table[1] == nil)
        #expect(table[0] == nil)
        #expect(table.remove(1) == nil)
        #expect(table.update(1) { $0 } == nil)
    }
}
