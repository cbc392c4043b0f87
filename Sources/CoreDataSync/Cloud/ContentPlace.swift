import CoreDataSyncEngine
import Foundation
import Synchronization

/// A content was removed on another device: what this one has of it must go, too.
struct ContentRemoved: LocalizedError {
    var errorDescription: String? {
        "The content was removed from all devices on another one. An empty store takes the place of this device's."
    }
}

/// The place of a content that can be removed from all devices at once.
///
/// Contents have epochs. A file in the folder `removals` ends an epoch, and the folders of devices have the epoch in
/// their names. So files that a device wrote which did not know of the removal belong to the old epoch, and no device
/// reads them again.
///
/// ```
/// removals/removal-0000000000000001      ends epoch 0
/// <device>/…                             epoch 0
/// epoch-1-<device>/…                     epoch 1
/// ```
final class ContentPlace: SyncPlace {
    private static let removals = "removals"

    let base: any SyncPlace
    private let known = Mutex<UInt64>(0)

    init(_ base: any SyncPlace) { self.base = base }

    /// The epoch that the device takes part in.
    var epoch: UInt64 {
        get { known.withLock { $0 } }
        set { known.withLock { $0 = newValue } }
    }

    /// The present epoch of the content.
    func currentEpoch() async throws -> UInt64 {
        try await base.list(Self.removals).compactMap { name in
            name.hasPrefix("removal-") ? UInt64(name.dropFirst("removal-".count)) : nil
        }.max() ?? 0
    }

    /// Ends the present epoch, and deletes its files and those of earlier ones.
    ///
    /// - Throws: the place's error; if the epoch could be ended, after as many files as possible were deleted.
    func remove() async throws {
        let next = try await currentEpoch() + 1
        let name = "removal-" + FileName.padded(next)
        // If it exists, another device removes the content at the same time.
        _ = try await base.create(name, in: Self.removals, Data("The content was removed.\n".utf8))
        var failure: (any Error)?
        for folder in try await base.list(nil) where folder != Self.removals && Self.epoch(of: folder) < next {
            do { for file in try await base.list(folder) { try await base.delete(file, in: folder) } } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    // MARK: Names

    private var prefix: String { epoch == 0 ? "" : "epoch-\(epoch)-" }

    private static func epoch(of folder: String) -> UInt64 {
        guard folder.hasPrefix("epoch-") else { return 0 }
        return UInt64(folder.dropFirst("epoch-".count).prefix { $0 != "-" }) ?? 0
    }

    // MARK: The place

    func list(_ folder: String?) async throws -> [String] {
        if let folder { return try await base.list(prefix + folder) }
        if try await currentEpoch() > epoch { throw ContentRemoved() }
        return try await base.list(nil).filter { $0 != Self.removals && Self.epoch(of: $0) == epoch }
            .map { String($0.dropFirst(prefix.count)) }
    }

    func read(_ file: String, in folder: String) async throws -> Data? {
        try await base.read(file, in: prefix + folder)
    }

    func create(_ file: String, in folder: String, _ data: Data) async throws -> Bool {
        try await base.create(file, in: prefix + folder, data)
    }

    func delete(_ file: String, in folder: String) async throws { try await base.delete(file, in: prefix + folder) }

    func changes() -> AsyncStream<Void> { base.changes() }
}
