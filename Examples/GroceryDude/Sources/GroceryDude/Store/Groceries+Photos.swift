import CoreData
import Foundation

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

    /// Makes the small pictures that are missing, a few at a time, in the background.
    func makeMissingThumbnails() async {
        guard Thumbnails.program != nil else { return }
        let context = backgroundContext("thumbnails")
        var passed: Set<NSManagedObjectID> = []
        while !Task.isCancelled {
            let found = await context.perform { [passed] () -> [(NSManagedObjectID, Data)] in
                let request = NSFetchRequest<Item>(entityName: "Item")
                request.predicate = NSPredicate(format: "thumbnail == nil AND photo.data != nil")
                request.fetchLimit = 15 + passed.count
                let items = ((try? context.fetch(request)) ?? []).filter { !passed.contains($0.objectID) }
                return items.prefix(15).compactMap { item in item.photo?.data.map { (item.objectID, $0) } }
            }
            if found.isEmpty { return }
            for (id, data) in found {
                passed.insert(id)
                guard let kind = Pictures.Kind(data), let small = try? await Thumbnails.shared.make(of: data, kind)
                else {
                    continue
                }
                await context.perform {
                    guard let item = try? context.existingObject(with: id) as? Item, item.thumbnail == nil else {
                        return
                    }
                    item.thumbnail = small
                    try? context.save()
                }
            }
            await context.perform { context.reset() }
        }
    }
}
