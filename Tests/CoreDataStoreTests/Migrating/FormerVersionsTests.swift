import CoreDataModel
import CoreDataStore
import Foundation
import Testing

/// The list of versions that a store has left behind.
@Suite struct FormerVersionsTests {
    private static func hashes(_ version: Character) -> [String: Data] { ["Book": Data("\(version)".utf8)] }

    private static func checksum(_ version: Character) -> String { VersionHash.checksum(hashes(version)) }

    @Test(
        arguments: [
            ("", "A", "B", "A"), ("A", "B", "C", "AB"), ("A", "B", "B", "A"),
            // Back, and forward again.
            ("AB", "C", "A", ""), ("AB", "C", "B", "A"), ("", "A", "C", "A"),
        ] as [(String, Character, Character, String)])
    func aVersionIsLeftBehindUntilTheStoreReturnsToIt(
        known: String, from: Character, to: Character, expected: String
    ) {
        #expect(
            StoreMetadata.formerVersions(known.map(Self.checksum), from: Self.hashes(from), to: Self.hashes(to))
                == expected.map(Self.checksum))
    }

    @Test func theListDoesNotGrowForEver() {
        let many = (0..<64).map { "\($0)" }
        let list = StoreMetadata.formerVersions(many, from: Self.hashes("A"), to: Self.hashes("B"))
        #expect(list == many.dropFirst() + [Self.checksum("A")])
    }
}
