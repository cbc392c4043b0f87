import CoreData
import Foundation
import LivePages

// Pictures of items: large ones have an object of their own.
extension Groceries {
    /// The item's large picture.
    func picture(of item: Item?) -> Data? { passing(item?.photo) { $0.data } }

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
}
