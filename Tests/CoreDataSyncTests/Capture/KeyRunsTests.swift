import Testing

@testable import CoreDataSync
@testable import CoreDataSyncEngine

/// Keys of new objects in runs, beside dictionaries.
@Suite struct KeyRunsTests {
    /// Steps of any kind: a number picks the key, another one what happens to it.
    @Test(arguments: 1...30)
    func keysAreThoseOfADictionary(seed: UInt64) {
        var numbers = RunNumbers(seed)
        var (keys, ids) = (InsertedKeys(), KeyedIDs())
        var (expectedKeys, expectedIDs) = ([Int64: Int64](), [Int64: GlobalID]())
        var next: Int64 = 1
        for _ in 0..<200 {
            switch numbers.next() % 8 {
            case 0:
                let key = Int64(numbers.next() % 120)
                (keys[key], expectedKeys[key], ids[key], expectedIDs[key]) = (nil, nil, nil, nil)
            case 1:
                let (key, value) = (Int64(numbers.next() % 120), Int64(numbers.next() % 3))
                (keys[key], expectedKeys[key]) = (value, value)
                let id = GlobalID(high: 9, low: numbers.next())
                (ids[key], expectedIDs[key]) = (id, id)
            case 2: next += Int64(numbers.next() % 5)
            default:
                let transaction = Int64(seed % 2 == 0 ? 1 : numbers.next() % 2)
                (keys[next], expectedKeys[next]) = (transaction, transaction)
                if expectedIDs[next] == nil {
                    let id = GlobalID(high: 7, low: UInt64(transaction * 10_000 + next))
                    ids.append(next, id)
                    expectedIDs[next] = id
                }
                next += 1
            }
        }
        #expect(keys.sorted == expectedKeys.keys.sorted())
        #expect(keys.isEmpty == expectedKeys.isEmpty)
        for key in -1...(next + 1) {
            #expect(keys[key] == expectedKeys[key], "key \(key)")
            #expect(ids[key] == expectedIDs[key], "key \(key)")
        }
        for key in expectedKeys.keys { keys[key] = nil }
        #expect(keys.isEmpty && keys.sorted.isEmpty)
    }

    @Test func thousandsOfKeysAreOneRun() {
        var ids = KeyedIDs()
        for key in 1...5_000 { ids.append(Int64(key), GlobalID(high: 1, low: UInt64(1_000 + key))) }
        #expect(ids[1] == GlobalID(high: 1, low: 1_001) && ids[5_000] == GlobalID(high: 1, low: 6_000))
        #expect(ids[0] == nil && ids[5_001] == nil)
        ids[77] = nil
        #expect(ids[77] == nil && ids[78] == GlobalID(high: 1, low: 1_078))
    }
}

private struct RunNumbers {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }
}
