import CoreDataSync
import Foundation
import Synchronization

/// A place that is not used if it is empty but had files, nor if it is a folder that is missing. Below the mount point of a drive that is
/// not connected, or for another account, a new folder would take the files that are meant for the first.
final class SharedPlace: SyncPlace {
    private struct State {
        /// Whether the place had files of devices.
        var hasFiles: Bool
        /// Whether this was checked since the app began.
        var isChecked = false
    }

    private let place: any SyncPlace
    private let address: PlaceAddress
    /// Guards what is known of the place.
    private let state: Mutex<State>

    init(_ place: any SyncPlace, _ address: PlaceAddress, hasFiles: Bool) {
        (self.place, self.address) = (place, address)
        state = Mutex(State(hasFiles: hasFiles))
    }

    func list(_ folder: String?) async throws -> [String] {
        guard folder == nil else { return try await place.list(folder) }
        if case .folder(let path) = address { try Self.checkFolder(path) }
        let names = try await place.list(nil)
        if names.isEmpty, state.withLock({ $0.hasFiles }) {
            let advice = address.isFolder ? "Connect its drive." : "Check it on the server."
            throw SyncPlaceError(
                .unavailable,
                """
                The \(address.noun) “\(address.name)” is empty, though it had files. \(advice) If its files were deleted, leave it and \
                begin again.
                """, path: address.isFolder ? address.name : nil)
        }
        state.withLock { $0 = State(hasFiles: $0.hasFiles || !names.isEmpty, isChecked: true) }
        return names
    }

    private static func checkFolder(_ path: String) throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw SyncPlaceError(
                .unavailable, "There is no folder “\(path)”. Connect its drive, or create the folder.", path: path)
        }
        guard isFolder.boolValue else {
            throw SyncPlaceError(.unavailable, "“\(path)” is a file, not a folder. Move it away.", path: path)
        }
    }

    func read(_ file: String, in folder: String) async throws -> Data? { try await place.read(file, in: folder) }

    func create(_ file: String, in folder: String, _ data: Data) async throws -> Bool {
        // A drive can be taken away at any time.
        if address.isFolder || state.withLock({ $0.hasFiles && !$0.isChecked }) { _ = try await list(nil) }
        return try await place.create(file, in: folder, data)
    }

    func delete(_ file: String, in folder: String) async throws { try await place.delete(file, in: folder) }

    func changes() -> AsyncStream<Void> { place.changes() }
}
