import Foundation
import SwiftData

/// What a context's notifications say.
final class SaveRecorder: @unchecked Sendable {
    // Safe because a test uses it on one thread.
    private(set) var names: [Notification.Name] = []
    private(set) var userInfos: [[AnyHashable: Any]] = []
    private var observers: [any NSObjectProtocol] = []

    init(_ context: ModelContext) {
        for name in [ModelContext.willSave, ModelContext.didSave] {
            observers.append(
                NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
                    [weak self] note in
                    guard let self else { return }
                    names.append(note.name)
                    if let userInfo = note.userInfo { userInfos.append(userInfo) }
                })
        }
    }

    deinit { for observer in observers { NotificationCenter.default.removeObserver(observer) } }

    func identifiers(_ key: ModelContext.NotificationKey) -> [PersistentIdentifier]? {
        userInfos.last?[key] as? [PersistentIdentifier]
    }
}
