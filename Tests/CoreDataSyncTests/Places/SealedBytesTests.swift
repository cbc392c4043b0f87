import CoreDataDigests
import Foundation
import Testing

/// What the library computes, by published values.
@Suite struct SealedBytesTests {
    private func bytes(_ hex: String) -> Data {
        let digits = Array(hex.utf8)
        return Data(
            stride(from: 0, to: digits.count, by: 2).compactMap {
                UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
            })
    }

    /// RFC 7914, section 12.
    @Test func keysAreThoseOfTheStandard() {
        let cost = PassphraseKey.Cost(costBits: 10, blockSize: 8, parallelism: 16)
        let key = PassphraseKey.derive(passphrase: "password", salt: Data("NaCl".utf8), cost: cost, count: 64)
        #expect(
            key.map(Digests.hex) == """
                fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162\
                2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640
                """)
    }

    /// Test case 16 of the mode's specification.
    @Test func sealedBytesAreThoseOfTheStandard() {
        let key = bytes("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308")
        let sealed = bytes(
            """
            cafebabefacedbaddecaf888522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b\
            1056828838c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b
            """)
        let associated = bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2")
        let text = bytes(
            """
            d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de6\
            57ba637b39
            """)
        #expect(SealedBytes.open(sealed, key: key, associated: associated) == text)
        #expect(SealedBytes.open(sealed, key: key, associated: Data()) == nil)
        #expect(SealedBytes.open(sealed.dropLast(), key: key, associated: associated) == nil)
        #expect(SealedBytes.open(sealed, key: key.dropLast(), associated: associated) == nil)
    }

    @Test(arguments: [0, 1, 15, 16, 17, 5000])
    func bytesAreSealedAndOpened(count: Int) throws {
        let key = Data(repeating: 7, count: 32)
        let text = Data((0..<count).map { UInt8($0 & 255) })
        let sealed = try #require(SealedBytes.seal(text, key: key, associated: Data("name".utf8)))
        #expect(sealed.count == count + SealedBytes.overhead)
        #expect(SealedBytes.open(sealed, key: key, associated: Data("name".utf8)) == text)
        #expect(SealedBytes.open(sealed, key: key, associated: Data("other".utf8)) == nil)
        #expect(SealedBytes.open(sealed, key: Data(repeating: 8, count: 32), associated: Data("name".utf8)) == nil)
        #expect(try #require(SealedBytes.seal(text, key: key, associated: Data("name".utf8))) != sealed, "a new nonce")
        #expect(SealedBytes.seal(text, key: key.dropLast(), associated: Data()) == nil)
    }

    @Test(arguments: [
        (9, 8, 1, false), (10, 8, 1, true), (16, 8, 2, true), (18, 16, 1, true), (20, 8, 1, false), (21, 8, 1, false),
        (63, 8, 1, false), (10, 7, 1, false), (10, 255, 1, false), (10, 8, 0, false), (10, 8, 17, false),
    ])
    func costsAreBounded(bits: UInt8, size: UInt8, parallelism: UInt8, isAcceptable: Bool) {
        let cost = PassphraseKey.Cost(costBits: bits, blockSize: size, parallelism: parallelism)
        #expect(cost.isAcceptable == isAcceptable)
        #expect(
            isAcceptable || PassphraseKey.derive(passphrase: "p", salt: Data("salt".utf8), cost: cost, count: 32) == nil
        )
    }
}
