import CoreData
import CoreDataSync
import Foundation

/// Which small picture that lost belongs to which large one that lost: a device saves both at once.
@MainActor struct ConflictPictures {
    nonisolated static let thumbnail = "thumbnail"

    private let groceries: Groceries
    /// The items of pictures that conflicts name.
    private var items: [URL: URL] = [:]

    init(_ conflicts: [SyncConflict], in groceries: Groceries) {
        self.groceries = groceries
        for conflict in conflicts where conflict.entity == "Item_Photo" {
            guard let uri = conflict.object, let photo = groceries.object(at: uri) as? Item_Photo else { continue }
            items[uri] = photo.item?.objectID.uriRepresentation()
        }
    }

    /// Whether the first conflict is of a picture, and the second of the small picture of the same item by the same device.
    func belong(_ picture: SyncConflict, _ small: SyncConflict) -> Bool {
        guard small.property == Self.thumbnail, small.device == picture.device, let item = small.object else {
            return false
        }
        if picture.property == "photo" { return picture.object == item }
        return picture.entity == "Item_Photo" && picture.property == "data"
            && picture.object.flatMap { items[$0] } == item
    }
}

extension Groceries {
    /// The object of that URI; `nil` where there is none (any more).
    func object(at uri: URL) -> NSManagedObject? {
        stack.coordinator.managedObjectID(forURIRepresentation: uri).flatMap { try? view.existingObject(with: $0) }
    }
}
