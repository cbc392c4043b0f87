import CoreDataSync
import Foundation
import Synchronization

/// Another place as one device sees it while some files have not arrived there yet.
final class HidingPlace: SyncPlace {
    private let base: any SyncPlace
    private let isHidden = Mutex<@Sendable (String, String) -> Bool>({ _, _ in false })

    init(_ base: any SyncPlace) { self.base = base }

    /// Hides the files whose names fulfil the condition, of all devices.
    func hide(_ condition: @escaping @Sendable (String) -> Bool) { isHidden.withLock { $0 = { condition($1) } } }

    /// Hides the files of some devices.
    func hide(folders: Set<String>) { isHidden.withLock { $0 = { folder, _ in folders.contains(folder) } } }

    func showAll() { hide { _ in false } }

    private func hides(_ file: String, _ folder: String) -> Bool { isHidden.withLock { $0 }(folder, file) }

    func list(_ folder: String?) async throws -> [String] {
        let names = try await base.list(folder)
        return folder.map { folder in names.filter { !hides($0, folder) } } ?? names
    }

    func read(_ file: String, in folder: String) async throws -> Data? {
        hides(file, folder) ? nil : try await base.read(file, in: folder)
    }

    func create(_ file: String, in folder: String, _ data: Data) async throws -> Bool {
        try await base.create(file, in: folder, data)
    }

    func delete(_ file: String, in folder: String) async throws { try await base.delete(file, in: folder) }

    func changes() -> AsyncStream<Void> { base.changes() }
}
