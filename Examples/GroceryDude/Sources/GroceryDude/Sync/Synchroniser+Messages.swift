import CoreDataSync
import Foundation
import LivePages

// What goes wrong, in words.
extension Synchroniser {
    /// The message of an error, without the folders of this machine that are not the user's choice.
    func message(_ error: any Error) -> String {
        if let error = error as? SyncPlaceError { return error.message }
        return StorePlace.withoutFolders(error.localizedDescription, of: groceries.url)
    }

    var wrongPassphrase: String {
        "This is not the passphrase of the \(settings?.place.noun ?? "folder"). Type the one that its other devices use."
    }
}
