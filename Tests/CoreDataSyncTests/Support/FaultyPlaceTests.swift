import CoreDataSync
import CoreDataSyncSimulation
import Foundation
import Testing

/// The faults that other tests build on do happen, each by itself, and end.
@Suite struct FaultyPlaceTests {
    private struct Killed: Error {}
    private let base = MemoryPlace()
    private let bytes = Data((0..<100).map { UInt8($0) })

    private func fill(_ count: Int) async throws {
        for number in 0..<count { _ = try await base.create("f-\(number)", in: "a", bytes) }
    }

    /// The seen results of 200 reads, as what they are.
    private func reads(_ faults: FaultyPlace.Faults, seed: UInt64 = 1) async throws -> [Data?] {
        try await fill(4)
        let place = FaultyPlace(base, seed: seed, faults)
        var seen: [Data?] = []
        for number in 0..<200 { seen.append(try? await place.read("f-\(number % 4)", in: "a")) }
        return seen
    }

    @Test func equalSeedsMakeEqualFaults() async throws {
        let first = try await reads(.rough)
        #expect(try await reads(.rough) == first)
        #expect(try await reads(.rough, seed: 2) != first)
    }

    @Test func readsAreCutChangedAndFail() async throws {
        #expect(try await reads(.init(truncations: 5)).contains { $0.map { $0.count < 100 } ?? false })
        #expect(try await reads(.init(corruptions: 5)).contains { $0?.count == 100 && $0 != bytes })
        #expect(try await reads(.init(failures: 5)).contains(nil))
        let torn = try await reads(.init(tornFiles: 1))
        #expect(torn[..<4].allSatisfy { $0?.count == 50 })
        #expect(torn[20...].allSatisfy { $0 == bytes }, "a torn file becomes whole")
        #expect(try await reads(.none).allSatisfy { $0 == bytes })
    }

    @Test func listingsAreLateAndHideAndRepeat() async throws {
        let late = FaultyPlace(base, seed: 1, .init(lateListings: 2))
        let hiding = FaultyPlace(base, seed: 1, .init(hiddenFiles: 1))
        let repeating = FaultyPlace(base, seed: 1, .init(repetitions: 1))
        var counts: [Int] = []
        for number in 0..<20 {
            _ = try await base.create("f-\(number)", in: "a", bytes)
            counts.append(try await late.list("a").count)
        }
        #expect(counts != Array(1...20) && counts.allSatisfy { (1...20).contains($0) })
        #expect(try await hiding.list("a") == [])
        for _ in 0..<4 { _ = try await hiding.list("a") }
        #expect(try await hiding.list("a").count == 20)
        #expect(try await repeating.list("a").count == 21)
    }

    @Test func answersAndFilesAreLost() async throws {
        let silent = FaultyPlace(base, seed: 1, .init(lostAnswers: 1))
        let bytes = bytes
        await #expect(throws: SyncPlaceError.self) { try await silent.create("f", in: "a", bytes) }
        #expect(try await base.read("f", in: "a") == bytes)
        let losing = FaultyPlace(base, seed: 1, .init(losses: 1))
        #expect(try await losing.create("g", in: "a", bytes))
        #expect(try await base.read("g", in: "a") == nil)
    }

    @Test func writesAreRefusedAndTheHookKills() async throws {
        let place = FaultyPlace(base, seed: 1)
        let bytes = bytes
        place.isFull = true
        #expect(await reason { _ = try await place.create("f", in: "a", bytes) } == .full)
        (place.isFull, place.isReadOnly) = (false, true)
        #expect(await reason { try await place.delete("f", in: "a") } == .readOnly)
        place.heal()
        place.hook = { if $0.number == 4 { throw Killed() } }
        _ = try await place.list("a")
        await #expect(throws: Killed.self) { try await place.create("f", in: "a", bytes) }
        #expect(try await base.list("a") == [])
        #expect(place.count == 4)
    }

    private func reason(_ body: () async throws -> Void) async -> SyncPlaceError.Reason? {
        do { try await body() } catch { return (error as? SyncPlaceError)?.reason }
        return nil
    }
}
