import CoreDataPrimitives
import Testing

@Suite struct IndexMaskTests {
    @Test(arguments: [[], [0], [63], [64], [3, 63, 64, 127, 128, 500], Array(0..<200)])
    func holdsWhatIsInserted(indexes: [Int]) {
        var mask = IndexMask()
        #expect(mask.isEmpty)
        for index in indexes.reversed() { mask.insert(index) }
        #expect(Array(mask) == indexes)
        #expect((0..<600).filter { mask.contains($0) } == indexes)
        for index in indexes {
            mask.remove(index)
            #expect(!mask.contains(index))
        }
        #expect(mask.isEmpty)
        #expect(Array(mask) == [])
    }

    @Test func absentColumnsAndRemovalsChangeNothing() {
        var mask = IndexMask()
        mask.insertStored(-1)
        mask.remove(5)
        mask.remove(300)
        #expect(mask.isSame(as: IndexMask()))
        mask.insertStored(70)
        #expect(!mask.isSame(as: IndexMask()))
        mask.removeAll()
        #expect(mask.isSame(as: IndexMask()))
    }
}
