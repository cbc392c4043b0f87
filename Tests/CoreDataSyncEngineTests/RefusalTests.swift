import CoreDataSyncEngine
import Foundation
import Testing

@Suite struct RefusalTests {
    private static let device = DeviceID(high: 1, low: 2)
    private static let service = DeviceID(high: 3, low: 4)

    private static func refusal(
        _ property: String, _ losing: SyncValue, _ winning: SyncValue
    ) -> Refusal {
        let stamp = Stamp(ticks: 1 << 40, device: device)
        return Refusal(
            device: device, object: GlobalID(high: 5, low: 6), entity: "Item", property: property, reason: "refused",
            losing: .init(stamp: stamp, value: losing),
            winning: .init(stamp: Stamp(ticks: 1 << 40 | 1, device: service), value: winning))
    }

    private static let refusals = [
        refusal("name", .string("Gin"), .string("Milk")), refusal("list", .reference(GlobalID(high: 7, low: 8)), .null),
        refusal("", .null, .null), refusal("amount", .integer(-3), .stored), refusal("place.city", .null, .string("é")),
    ]

    @Test(arguments: refusals)
    func aRefusalIsReadAsItWasWritten(_ refusal: Refusal) throws {
        #expect(try Refusal(bytes: refusal.bytes) == refusal)
    }

    @Test func aSegmentHasRefusalsBesideItsStates() throws {
        let segment = Segment(
            device: Self.service, number: 7, modelHash: Data([1]), seen: VersionVector(), states: [],
            refusals: Self.refusals)
        #expect(try Segment(bytes: segment.bytes) == segment)
        let plain = Segment(
            device: Self.service, number: 7, modelHash: Data([1]), seen: VersionVector(), states: [])
        #expect(try Segment(bytes: plain.bytes).refusals.isEmpty)
        #expect(plain.bytes.count < segment.bytes.count)
    }

    /// Any bytes are safe to read.
    @Test func cutRefusalsAreFaults() {
        let bytes = Self.refusals[0].bytes
        for count in 0..<bytes.count {
            #expect(throws: FileFault.self) { try Refusal(bytes: Array(bytes.prefix(count))) }
        }
        #expect(throws: FileFault.self) { try Refusal(bytes: bytes + [0]) }
    }
}
