import Foundation
import Testing

@testable import CoreDataSyncEngine

@Suite struct ByteReaderTests {
    @Test(arguments: [0, 1, 127, 128, 16_383, 16_384, 1 << 32, UInt64.max - 1, .max])
    func readsNumbersOfEveryLength(value: UInt64) throws {
        var writer = ByteWriter()
        writer.varint(value)
        writer.fixed64(value)
        writer.signed(Int64(bitPattern: value))
        var reader = ByteReader(writer.bytes)
        #expect(try reader.varint() == value)
        #expect(try reader.fixed64() == value)
        #expect(try reader.signed() == Int64(bitPattern: value))
        try reader.finish()
    }

    @Test func lengthOfANumberGrowsBySevenBits() {
        for (value, length) in [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (UInt64.max, 10)] {
            var writer = ByteWriter()
            writer.varint(value)
            #expect(writer.bytes.count == length)
        }
        var writer = ByteWriter()
        writer.signed(-64)
        #expect(writer.bytes == [0x7f])
    }

    /// Too long, too great, and not the shortest form.
    @Test(
        arguments: [
            [], [0x80], Array(repeating: 0x80, count: 10) + [1], Array(repeating: 0xff, count: 9) + [2], [0x80, 0],
        ] as [[UInt8]])
    func numberWithWrongDigitsIsAFault(bytes: [UInt8]) {
        #expect(throws: FileFault.self) {
            var reader = ByteReader(bytes)
            return try reader.varint()
        }
    }

    @Test func readsTextsAndIdentifiers() throws {
        let id = Identifier128(high: 0x0123_4567_89ab_cdef, low: .max)
        var writer = ByteWriter()
        writer.string("é日")
        writer.data(Data([1, 2]))
        writer.identifier(id)
        #expect(Array(writer.bytes.suffix(16).prefix(2)) == [0x01, 0x23])
        var reader = ByteReader(writer.bytes)
        #expect(try Array(reader.string().utf8) == Array("é日".utf8))
        #expect(try reader.data() == Data([1, 2]))
        #expect(try reader.identifier() == id)
        #expect(reader.isAtEnd)
    }

    @Test(arguments: [[2, 0xc3, 0x28], [1, 0x80], [3, 0xed, 0xa0, 0x80], [5, 0x41]] as [[UInt8]])
    func textThatIsNotUTF8IsAFault(bytes: [UInt8]) {
        #expect(throws: FileFault.self) {
            var reader = ByteReader(bytes)
            return try reader.string()
        }
    }

    @Test func countThatDoesNotFitIsAFault() throws {
        var reader = ByteReader([2, 0, 0, 0, 0])
        #expect(try reader.count(ofSize: 2) == 2)
        reader = ByteReader([3, 0, 0, 0, 0])
        #expect(throws: FileFault.self) { try reader.count(ofSize: 2) }
    }

    @Test func sectionEndsWhereItsLengthSays() throws {
        var reader = ByteReader([1, 7, 9])
        var section = try reader.section()
        #expect(try section.byte() == 7)
        #expect(throws: FileFault.self) { try section.byte() }
        #expect(throws: FileFault.self) { try reader.finish() }
        #expect(try reader.byte() == 9)
        try reader.finish()
    }

    @Test func faultSaysWhere() {
        let fault = FileFault(.malformed, "3 elements do not fit", at: 5, file: "segment-0000000000000001")
        #expect(fault.description.contains("segment-0000000000000001"))
        #expect(fault.description.contains("3 elements do not fit (byte 5)"))
    }
}
