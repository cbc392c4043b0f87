import Foundation
import Testing

@testable import CoreDataAccounts

@Suite struct PasswordDigestTests {
    struct Vector: Sendable {
        let password, salt: String
        let cost: PasswordCost
        let key: String
    }

    // RFC 7914, section 12; the first 32 bytes of each.
    static let vectors = [
        Vector(
            password: "", salt: "", cost: PasswordCost(costBits: 4, blockSize: 1, parallelism: 1),
            key: "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"),
        Vector(
            password: "password", salt: "NaCl", cost: PasswordCost(costBits: 10, blockSize: 8, parallelism: 16),
            key: "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"),
    ]

    @Test(arguments: vectors) func keysAreThoseOfTheStandard(_ vector: Vector) throws {
        let key = stride(from: 0, to: 64, by: 2).compactMap { offset in
            UInt8(vector.key.dropFirst(offset).prefix(2), radix: 16)
        }
        let digest = PasswordDigest(cost: vector.cost, salt: Array(vector.salt.utf8), key: key)
        #expect(try digest.matches(vector.password))
        #expect(try !digest.matches(vector.password + "x"))
    }

    @Test func standardCostIsStoredAndRead() throws {
        let digest = try PasswordDigest(of: "a lamp under the stairs", cost: .standard)
        #expect(digest.text.hasPrefix("$scrypt$ln=17,r=8,p=1$"))
        #expect(PasswordCost.standard.memory == 128 << 20)
        let read = try #require(PasswordDigest(text: digest.text))
        #expect(read == digest)
        #expect(try read.matches("a lamp under the stairs"))
    }

    @Test func saltsDiffer() throws {
        let cost = PasswordCost(costBits: 4, blockSize: 1, parallelism: 1)
        #expect(try PasswordDigest(of: "one", cost: cost) != PasswordDigest(of: "one", cost: cost))
    }

    @Test func composedAndDecomposedCharactersAreOnePassword() throws {
        let cost = PasswordCost(costBits: 4, blockSize: 1, parallelism: 1)
        #expect(try PasswordDigest(of: "K\u{FC}che\u{A0}und Bad", cost: cost).matches("Ku\u{308}che und Bad"))
    }

    @Test(arguments: [
        "", "$", "$$$$", "scrypt", "$scrypt$ln=4,r=1,p=1$c2FsdA$", "$bcrypt$ln=4,r=1,p=1$c2FsdA$c2FsdA",
        "$scrypt$ln=4,r=1$c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$r=4,ln=1,p=1$c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=99999999999999999999,r=1,p=1$c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=20,r=32,p=1$c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=-4,r=1,p=1$c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=4,r=1,p=1$*$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ]) func otherTextsAreNoDigests(_ text: String) { #expect(PasswordDigest(text: text) == nil) }

    @Test func noPasswordMatchesTheDigestForUnknownNames() throws {
        let digest = PasswordDigest.unmatchable(cost: PasswordCost(costBits: 4, blockSize: 1, parallelism: 1))
        #expect(try !digest.matches(""))
        #expect(try !digest.matches("a lamp under the stairs"))
    }
}
