import CoreData
import CoreDataToolkit
import Foundation

/// Makes the small pictures that are missing, a few at a time and in the background: when the app begins, and when another program
/// has brought large ones.
@MainActor package final class MissingThumbnails {
    private let thumbnailer: Thumbnailer?
    /// The entity of large pictures.
    private let pictures: String?
    private var task: Task<Void, Never>?
    private var isWanted = false
    private var observer: (any NSObjectProtocol)?

    /// - Parameters:
    ///   - entity: what has a small picture, as its `thumbnail`.
    ///   - picture: the relationship to the object that has the large one, as its `data`.
    package init(_ live: LiveStore, of entity: String, picture: String) throws {
        thumbnailer = try Pictures.scaler.map { scaler in
            var thumbnailer = try Thumbnailer(
                live.stack, entity: entity, picture: "\(picture).data", thumbnail: "thumbnail", scaler: scaler)
            thumbnailer.size = (Pictures.side, Pictures.side)
            return thumbnailer
        }
        let model = live.stack.model
        pictures = model.entitiesByName[entity]?.relationshipsByName[picture]?.destinationEntity?.name
        observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: live.view, queue: nil
        ) { [weak self] note in
            nonisolated(unsafe) let note = note
            MainActor.assumeIsolated { self?.contextDidChange(note) }
        }
        look()
    }

    private func contextDidChange(_ note: Notification) {
        let inserted = note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
        if inserted.contains(where: { $0.entity.name == pictures }) { look() }
    }

    /// Looks for large pictures without a small one, once more where that is being done.
    private func look() {
        guard let thumbnailer else { return }
        isWanted = true
        guard task == nil else { return }
        task = Task { [weak self] in
            // Pictures that cannot be read stay without; they are tried again with the next one that comes.
            while self?.isWanted == true, !Task.isCancelled {
                self?.isWanted = false
                try? await BusyStore.retrying { _ = try await thumbnailer.run() }
            }
            self?.task = nil
        }
    }

    package func end() {
        if let observer { NotificationCenter.default.removeObserver(observer) }
        observer = nil
        isWanted = false
        task?.cancel()
    }
}
