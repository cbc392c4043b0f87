import Foundation
import TestSupport
import Testing

@testable import CoreDataSyncEngine

@Suite struct VersionVectorTests {
    private static let device = DeviceID(high: 1, low: 1)

    private static func vector(_ ranges: [ClosedRange<UInt64>]) -> VersionVector {
        var vector = VersionVector()
        for range in ranges { vector.insert(device, range) }
        return vector
    }

    @Test(
        arguments: [
            ([1...1, 2...2], [1...2]), ([2...2, 1...1], [1...2]), ([1...1, 3...3], [1...1, 3...3]),
            ([1...1, 3...3, 2...2], [1...3]), ([1...5, 2...3], [1...5]), ([5...9, 1...20], [1...20]),
            ([1...2, 5...6, 9...9, 3...8], [1...9]), ([5...6, 4...4], [4...6]), ([5...6, 1...3], [1...3, 5...6]),
            ([UInt64.max - 1...UInt64.max, 0...0], [0...0, UInt64.max - 1...UInt64.max]),
            ([UInt64.max...UInt64.max, UInt64.max - 1...UInt64.max - 1], [UInt64.max - 1...UInt64.max]),
        ] as [([ClosedRange<UInt64>], [ClosedRange<UInt64>])])
    func rangesThatTouchBecomeOne(inserted: [ClosedRange<UInt64>], ranges: [ClosedRange<UInt64>]) throws {
        let vector = Self.vector(inserted)
        #expect(vector.ranges(of: Self.device) == ranges)
        #expect(try VersionVector(bytes: vector.bytes) == vector)
    }

    /// Each segment names all devices; a reader keeps what is said of it, and checks the rest all the same.
    @Test func oneDeviceIsReadOfMany() throws {
        var vector = Self.vector([1...3, 6...6])
        vector.insert(DeviceID(high: 0, low: 1), 4...5)
        vector.insert(DeviceID(high: 2, low: 1), 1...9)
        func read(_ bytes: Data, of device: DeviceID) throws -> VersionVector {
            var reader = ByteReader(bytes)
            let part = try VersionVector(from: &reader, of: device)
            try reader.finish()
            return part
        }
        for device in vector.devices { #expect(try read(vector.bytes, of: device) == vector.part(of: device)) }
        #expect(try read(vector.bytes, of: DeviceID(high: 9, low: 9)).isEmpty)
        // The last range of the first device begins where the one before ends.
        var bytes = VersionVector()
        bytes.insert(DeviceID(high: 0, low: 1), 1...1)
        bytes.insert(DeviceID(high: 0, low: 1), 3...3)
        var wrong = bytes.bytes
        wrong[wrong.count - 2] = 1
        #expect(throws: FileFault.self) { try read(wrong, of: Self.device) }
    }

    @Test func saysWhatIsMissing() {
        let vector = Self.vector([1...3, 6...6])
        #expect(vector.contiguous(Self.device) == 3)
        #expect(vector.highest(Self.device) == 6)
        #expect(vector.contains(Self.device, 3) && !vector.contains(Self.device, 4) && vector.contains(Self.device, 6))
        #expect(!vector.contains(Self.device, 7) && !vector.contains(Self.device, 0))
        #expect(Self.vector([2...3]).contiguous(Self.device) == 0)
        #expect(VersionVector().highest(Self.device) == 0)
        #expect(vector.devices == [Self.device])
    }

    /// The same operations on sets of numbers.
    @Test(arguments: Trials.seeds(40))
    func isASetOfNumbers(seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed)
        func random(_ numbers: inout SeededNumbers) -> (VersionVector, [DeviceID: Set<UInt64>]) {
            var (vector, sets) = (VersionVector(), [DeviceID: Set<UInt64>]())
            for _ in 0..<numbers.below(12) {
                let device = numbers.pick(RandomStates.devices)
                let first = UInt64(numbers.below(20))
                let range = first...first + UInt64(numbers.below(4))
                vector.insert(device, range)
                sets[device, default: []].formUnion(range)
            }
            return (vector, sets)
        }
        func numbersOf(_ vector: VersionVector) -> [DeviceID: Set<UInt64>] {
            Dictionary(uniqueKeysWithValues: vector.devices.map { ($0, Set(vector.ranges(of: $0).joined())) })
        }
        for _ in 0..<50 {
            let ((a, aSets), (b, bSets)) = (random(&numbers), random(&numbers))
            #expect(numbersOf(a) == aSets)
            let union = a.union(b)
            #expect(numbersOf(union) == aSets.merging(bSets) { $0.union($1) })
            #expect(union == b.union(a) && union.union(a) == union)
            #expect(a.isSuperset(of: b) == bSets.allSatisfy { aSets[$0.key, default: []].isSuperset(of: $0.value) })
            #expect(union.isSuperset(of: a) && union.isSuperset(of: b))
            #expect(try VersionVector(bytes: union.bytes) == union)
        }
    }

    /// Devices and ranges that are not in order, and bounds beyond 64 bits.
    @Test func bytesThatNoVectorHasAreAFault() {
        func check(_ write: (inout ByteWriter) -> Void, line: Int = #line) {
            var writer = ByteWriter()
            write(&writer)
            #expect(throws: FileFault.self, "line \(line)") { try VersionVector(bytes: writer.asData) }
        }
        func device(_ writer: inout ByteWriter, _ low: UInt64, _ numbers: [UInt64]) {
            writer.identifier(DeviceID(high: 0, low: low))
            for number in numbers { writer.varint(number) }
        }
        check { $0.varint(UInt64.max) }
        check { writer in
            writer.varint(2)
            device(&writer, 2, [1, 1, 0])
            device(&writer, 1, [1, 1, 0])
        }
        check { writer in
            writer.varint(1)
            device(&writer, 1, [0, 0, 0])
        }
        check { writer in
            writer.varint(1)
            device(&writer, 1, [2, 1, 0, 1, 0])
        }
        check { writer in
            writer.varint(1)
            device(&writer, 1, [1, .max, 1])
        }
    }
}
