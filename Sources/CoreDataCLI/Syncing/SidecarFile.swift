import CoreDataStoreTools
import CoreDataSync
import Foundation

/// The sidecar beside the store that a command names.
enum SidecarFile {
    /// Opens the sidecar to look into it; nothing is changed.
    static func open(beside store: String) throws -> Sidecar {
        try checkIsFile(store)
        let url = Sidecar.url(beside: StoreFile.url(store))
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw ToolFailure(
                "\(store) is not synchronised: there is no file \(url.lastPathComponent) beside it.")
        }
        let sidecar = try Sidecar.open(reading: url)
        if sidecar.isNew { throw ToolFailure("\(store) has not been exchanged yet: \(url.path) is empty.") }
        return sidecar
    }

    /// - Throws: ``ToolFailure`` where there is no store, or one on a server: nothing can lie beside it.
    static func checkIsFile(_ store: String) throws {
        try StoreFile.checkExists(store)
        guard StoreFile.isOnServer(store) else { return }
        throw ToolFailure(
            "\(StoreFile.shown(store)) is on a server: the program that synchronises it says where its sidecar is. This command takes a store's file."
        )
    }
}
