import Foundation
import TestSupport
import Testing

@testable import CoreDataSyncEngine

@Suite struct KeyIdentityTests {
    private func id(_ values: SyncValue..., entity: String = "Unit") -> GlobalID {
        KeyIdentity.id(entity: entity, values: values)
    }

    /// Fixed for all versions: another ID for the same key would make every object twice.
    @Test func idsOfKeysNeverChange() {
        #expect(id(.string("kg")).description == "2f98f4ba-b4af-8218-9a16-09662d6d2cc3")
        #expect(id(.string("kg"), .integer(-1), entity: "Größe").description == "d67a15b2-5a4b-81a5-8505-260492d4c617")
    }

    @Test func equalKeysHaveEqualIDs() {
        #expect(id(.string("caf\u{e9}")) == id(.string("cafe\u{301}")))
        #expect(id(.double(0)) == id(.double((-0.0).bitPattern)))
        #expect(id(.string("a"), entity: "Gr\u{f6}\u{df}e") == id(.string("a"), entity: "Gro\u{308}\u{df}e"))
    }

    @Test func differentKeysHaveDifferentIDs() {
        let ids = [
            id(.string("kg")), id(.string("Kg")), id(.string("kg ")), id(.string("kg"), entity: "Item"),
            id(.string("k"), .string("g")), id(.string("kg"), .string("")), id(.uri("kg")), id(.integer(1)),
            id(.integer(2)), id(.double(1)), id(), id(.null), id(.data(Data("kg".utf8))),
        ]
        #expect(Set(ids).count == ids.count)
    }

    /// Fixed for all versions: a restored device captures its transactions again.
    @Test func idsOfTransactionsAscendByKey() throws {
        func base(_ number: Int64, _ time: Double, _ root: String, seed: UInt64 = 1) -> GlobalID {
            KeyIdentity.transaction(
                number, time: time.bitPattern, milliseconds: 800_000_000_000, root: root,
                seed: Identifier128(high: seed, low: 2))
        }
        let first = base(7, 800_000_000.25, "Item")
        let ids = try [1, 2, 3, 1 << 48 - 1].map { try #require(KeyIdentity.member($0, of: first)) }
        #expect(ids.sorted() == ids)
        #expect(Set(ids.map { $0.description.dropFirst(14).first }) == ["7"])
        #expect(KeyIdentity.member(1 << 48, of: first) == nil && KeyIdentity.member(-1, of: first) == nil)
        let others = [
            base(8, 800_000_000.25, "Item"), base(7, 800_000_000.5, "Item"), base(7, 800_000_000.25, "Unit"),
            base(7, 800_000_000.25, "Item", seed: 2),
        ]
        #expect(Set(others + [first]).count == 5)
        #expect(first == base(7, 800_000_000.25, "Item"))
    }

    /// The parts of an ID after version and variant.
    struct Parts {
        var high: UInt64
        var low: UInt64

        var id: GlobalID {
            GlobalID(high: 0xe3c5_0000_7000 | 5 << 48 | high, low: 0x8000_0000_0000_0000 | low)
        }
    }

    private static let greatest: UInt64 = 0x3fff_ffff_ffff_ffff

    @Test(
        arguments: [
            (Parts(high: 5, low: 7), 0, Parts(high: 5, low: 8)), (Parts(high: 5, low: 7), 99, Parts(high: 5, low: 107)),
            (Parts(high: 5, low: greatest), 0, Parts(high: 6, low: 0)),
            (Parts(high: 5, low: greatest - 4), 9, Parts(high: 6, low: 5)),
            (Parts(high: 0xffe, low: greatest), 0, Parts(high: 0xfff, low: 0)),
        ] as [(Parts, UInt32, Parts)])
    func anIDAfterAnotherIsGreater(parts: Parts, step: UInt32, next: Parts) {
        #expect(KeyIdentity.next(after: parts.id, step: step) == next.id)
        #expect(parts.id < next.id)
    }

    @Test func noIDFollowsTheLastOfItsTime() {
        #expect(KeyIdentity.next(after: Parts(high: 0xfff, low: Self.greatest).id, step: 0) == nil)
    }

    @Test func idsAreUUIDsOfTheirVersion() {
        var numbers = SeededNumbers(seed: 1)
        let key = id(.string("kg")).uuid.uuid
        #expect(key.6 >> 4 == 8 && key.8 >> 6 == 2)
        let random = KeyIdentity.random(now: 5, using: &numbers)
        #expect(random.uuid.uuid.6 >> 4 == 7 && random.uuid.uuid.8 >> 6 == 2)
        #expect(random.high >> 16 == 978_307_200_005)
        #expect(KeyIdentity.random(now: 5, using: &numbers) != random)
        #expect(KeyIdentity.random(now: 6, using: &numbers) > random)
        _ = KeyIdentity.random(now: .max, using: &numbers)
    }
}
