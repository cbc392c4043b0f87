import CoreData
import Foundation
import Synchronization

extension ModelContext {
    /// Posted before a save that has something to write; object: the context, which may still be changed.
    public static var willSave: Notification.Name { ModelContextNotification.wanted(ModelContextNotification.willSave) }

    /// Posted after a save; object: the context.
    ///
    /// The user info has arrays of ``PersistentIdentifier`` under each ``NotificationKey``, under its raw value, and
    /// under the texts `inserted`, `updated` and `deleted`. Under ``NotificationKey/historyTokens`` and its raw value
    /// it has the position of the history.
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
        /// The position of the history after the save, to fetch later transactions: a ``DefaultHistoryToken``, or the
        /// token of an app's own store if only such stores keep a history. Missing if the save recorded no transaction.
        /// Only in ``ModelContext/didSave``.
        ///
        ///     let token = note.userInfo?[ModelContext.NotificationKey.historyTokens] as? DefaultHistoryToken
        ///
        /// In a container of several stores, a ``DefaultHistoryToken`` has the position of each of them.
        case historyTokens
    }
}

/// Posts a context's notifications, if they may be observed.
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
        if let token = historyToken(after: context) {
            userInfo[ModelContext.NotificationKey.historyTokens] = token
            userInfo[ModelContext.NotificationKey.historyTokens.rawValue] = token
        }
        NotificationCenter.default.post(name: didSave, object: context, userInfo: userInfo)
    }

    private static func historyToken(after context: ModelContext) -> (any HistoryToken)? {
        if let token = context.managedObjectContext.historyTokenAfterSave {
            return DefaultHistoryToken(token.positions)
        }
        return DataStoreBridge.historyToken(afterSaveOf: context)
    }
}
