import CoreData
import os.log

#if canImport(UIKit)
import UIKit
#endif

/// Who wants to know that the library was saved.
@objc public protocol LibraryDelegate {
    func libraryDidSave(_ library: Library)
}

/// A store of books, and what happens to it.
@objcMembers
public final class Library: NSObject {
    public let container: NSPersistentContainer
    public weak var delegate: LibraryDelegate?
    public private(set) dynamic var insertedTitles: [String] = []
    public private(set) dynamic var changeCount = 0

    public init(name: String, url: URL) throws {
        ColourTransformer.register()
        container = NSPersistentContainer(name: name, managedObjectModel: Library.model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        super.init()
        var failure: Error?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        NotificationCenter.default.addObserver(
            self, selector: #selector(didSave(_:)),
            name: .NSManagedObjectContextDidSave, object: container.viewContext)
        NotificationCenter.default.addObserver(self, selector: #selector(Library.didChange), name: .NSManagedObjectContextObjectsDidChange, object: container.viewContext)
    }

    deinit { NotificationCenter.default.removeObserver(self) }

    /// Hears of no change any more, still of saves.
    public func ignoreChanges() {
        NotificationCenter.default.removeObserver(
            self, name: .NSManagedObjectContextObjectsDidChange, object: container.viewContext)
    }

    @objc private func didSave(_ notification: Notification) {
        let inserted = notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
        insertedTitles += inserted.compactMap { ($0 as? Book)?.title }.sorted()
        delegate?.libraryDidSave(self)
    }

    @objc private func didChange() { changeCount += 1 }

    /// Adds many books without keeping all of them in memory.
    public func add(_ count: Int) throws {
        for batch in 0..<count {
            try autoreleasepool {
                _ = Book(title: "Volume \(batch + 1)", pages: Int32(batch), in: container.viewContext)
                try container.viewContext.save()
            }
        }
    }
}
