import CoreData
import CoreDataToolkit
import Foundation
import LivePages

// Pictures of items: large ones have an object of their own.
extension Groceries {
    /// Gives the item the picture, in place of the one it has.
    func setPhoto(_ picture: Data, thumbnail: Data?, of item: Item) throws -> Int? {
        try perform("Change the picture of \(item.title)") {
            let photo = item.photo ?? Item_Photo(context: view)
            if item.photo == nil {
                item.photo = photo
                try view.obtainPermanentIDs(for: [photo])
            }
            photo.data = picture
            item.thumbnail = thumbnail
        }.step
    }

    func removePhoto(of item: Item) throws -> Int? {
        try perform("Remove the picture of \(item.title)") {
            if let photo = item.photo { view.delete(photo) }
            item.thumbnail = nil
        }.step
    }

    /// Makes the small pictures that are missing, a few at a time, in the background: of items that another program gave a
    /// picture.
    func makeMissingThumbnails() async throws {
        guard let scaler = Pictures.scaler else { return }
        var thumbnailer = try Thumbnailer(
            stack, entity: "Item", picture: "photo.data", thumbnail: "thumbnail", scaler: scaler)
        thumbnailer.size = (Pictures.side, Pictures.side)
        try await thumbnailer.run()
    }
}
