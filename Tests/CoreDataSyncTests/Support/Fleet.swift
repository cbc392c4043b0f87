import CoreData
import CoreDataSyncEngine
import Foundation
import TestSupport
import Testing

@testable import CoreDataSync

/// Some devices with one place, of which each may see the files of the others late.
final class Fleet {
    let devices: [SyncingDevice]
    private let places: [HidingPlace]

    init(
        _ count: Int = 3, model: () -> NSManagedObjectModel, _ change: (inout SyncOptions) -> Void = { _ in }
    ) throws {
        let base = MemoryPlace()
        let places = (0..<count).map { _ in HidingPlace(base) }
        self.places = places
        devices = try places.enumerated().map { number, place in
            try SyncingDevice("D\(number)", place, model: model(), change)
        }
    }

    subscript(number: Int) -> SyncingDevice { devices[number] }

    /// Exchanges until all devices know everything that was saved, and checks that they have the same.
    ///
    /// - Parameter rounds: in so many rounds all devices must learn everything. In the next one nothing is exchanged.
    func settle(rounds: Int = 4, _ comment: Comment? = nil) async throws {
        showAll()
        for device in devices { device.clock.advance(seconds: 7_200) }
        var busy: [String] = []
        for _ in 0...rounds {
            busy = []
            for device in devices where try await device.exchange() != SyncSummary() { busy.append(device.name) }
            if busy.isEmpty { break }
        }
        #expect(busy.isEmpty, comment ?? "\(busy) still exchange after \(rounds) rounds")
        let contents = try devices.map { try $0.contents() }
        for (device, found) in zip(devices, contents) { #expect(found == contents[0], comment ?? "\(device.name)") }
    }

    /// Exchanges of one device, which sees only the files of some others.
    func exchange(_ number: Int, seeing others: Set<Int>) async throws {
        let hidden = devices.indices.filter { $0 != number && !others.contains($0) }
        places[number].hide(folders: Set(hidden.map { devices[$0].folder }))
        try await devices[number].exchange()
    }

    /// Hides the files of a kind from a device: `blob`, for example.
    func hide(_ prefix: String, from number: Int) { places[number].hide { $0.hasPrefix(prefix) } }

    /// Hides segments by their numbers from a device, and all snapshots.
    func hide(segments: Set<UInt64>, from number: Int) {
        places[number].hide { file in
            switch FileName(file) {
            case .segment(let number): segments.contains(number)
            case .snapshot: true
            default: false
            }
        }
    }

    /// The place as a device sees it.
    func place(_ number: Int) -> any SyncPlace { places[number] }

    private func showAll() { for place in places { place.showAll() } }

    /// Lets files arrive in some order: each step is an exchange of one device that sees some of the others.
    func deliver(_ numbers: inout SeededNumbers, steps: Int = 8) async throws {
        for _ in 0..<steps {
            let number = numbers.below(devices.count)
            let others = Set(devices.indices.filter { _ in numbers.chance(2) })
            try await exchange(number, seeing: others)
        }
    }
}
