import CoreData
import Foundation
import Synchronization

extension ModelContext {
    /// Posted before a save that has something to write; object: the context, which may still be changed.
    public static var willSave: Notification.Name { ModelContextNotification.wanted(ModelContextNotification.willSave) }

    /// Posted after a save; object: the context.
    ///
    /// The user info has arrays of ``PersistentIdentifier`` under each ``NotificationKey``, under its raw value, and under the texts
    /// `inserted`, `updated` and `deleted`.
    ///
    /// Posted once the program has asked for the name, as the notifications of `NSManagedObjectContext` are.
    public static var didSave: Notification.Name { ModelContextNotification.wanted(ModelContextNotification.didSave) }

    /// The keys of what notifications tell.
    public enum NotificationKey: String, Sendable {
        case queryGeneration
        case invalidatedAllIdentifiers
        case insertedIdentifiers
        case updatedIdentifiers
        case deletedIdentifiers
        case historyTokens
    }
}

/// Posts a context's notifications, where somebody may observe them.
enum ModelContextNotification {
    static let willSave = Notification.Name("SwiftDataModelContextWillSave")
    static let didSave = Notification.Name("SwiftDataModelContextDidSave")
    private static let isAskedFor = Atomic<Bool>(false)

    static var isWanted: Bool { isAskedFor.load(ordering: .relaxed) }

    static func wanted(_ name: Notification.Name) -> Notification.Name {
        isAskedFor.store(true, ordering: .relaxed)
        return name
    }

    static func postWillSave(_ context: ModelContext) {
        guard isWanted, context.hasChanges else { return }
        NotificationCenter.default.post(name: willSave, object: context)
    }

    static func postDidSave(_ context: ModelContext, _ saved: SavedModels) {
        guard isWanted else { return }
        var userInfo: [AnyHashable: Any] = [:]
        func add(_ key: ModelContext.NotificationKey, _ text: String, _ ids: [NSManagedObjectID]) {
            let identifiers = ids.map { PersistentIdentifier($0) }
            userInfo[key] = identifiers
            userInfo[key.rawValue] = identifiers
            userInfo[text] = identifiers
        }
        add(.insertedIdentifiers, "inserted", saved.inserted)
        add(.updatedIdentifiers, "updated", saved.updated)
        add(.deletedIdentifiers, "deleted", saved.deleted)
        NotificationCenter.default.post(name: didSave, object: context, userInfo: userInfo)
    }
}
