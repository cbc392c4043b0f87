import Foundation

@testable import CoreData

/// Something with an undoable property.
final class UndoSheet {
    var text = ""
    /// What handlers were called with, in order.
    var undone: [String] = []
    let undoManager: UndoManager

    /// - Parameter byEvent: whether the undo manager's groups follow events.
    init(byEvent: Bool = false) {
        undoManager = UndoManager()
        undoManager.groupsByEvent = byEvent
    }

    func write(_ new: String) {
        let old = text
        text = new
        undoManager.registerUndo(withTarget: self) { sheet in
            sheet.undone.append(old)
            sheet.write(old)
        }
    }

    /// Writes as a step of its own.
    func step(_ new: String, name: String? = nil) {
        undoManager.beginUndoGrouping()
        write(new)
        if let name { undoManager.setActionName(name) }
        undoManager.endUndoGrouping()
    }
}

/// What an undo manager posts.
final class UndoLog {
    var events: [String] = []
    private(set) var infos: [String: [AnyHashable: Any]] = [:]
    private var tokens: [any NSObjectProtocol] = []

    static let names: [(NSNotification.Name, String)] = [
        (.NSUndoManagerCheckpoint, "checkpoint"), (.NSUndoManagerDidOpenUndoGroup, "opened"),
        (.NSUndoManagerWillCloseUndoGroup, "closes"), (.NSUndoManagerDidCloseUndoGroup, "closed"),
        (.NSUndoManagerWillUndoChange, "undoes"), (.NSUndoManagerDidUndoChange, "undid"),
        (.NSUndoManagerWillRedoChange, "redoes"), (.NSUndoManagerDidRedoChange, "redid"),
    ]

    init(_ manager: UndoManager, react: @escaping (String) -> Void = { _ in }) {
        for (name, word) in Self.names {
            tokens.append(
                observe(name, of: manager) { [unowned self] in
                    events.append(word)
                    infos[word] = $0.userInfo
                    react(word)
                })
        }
    }

    deinit {
        for token in tokens { NotificationCenter.default.removeObserver(token) }
    }

    /// What was posted since the last time.
    func take() -> [String] {
        defer { events = [] }
        return events
    }
}

/// Observes in the thread that posts.
private func observe(
    _ name: NSNotification.Name, of manager: UndoManager, _ call: @escaping (Notification) -> Void
) -> any NSObjectProtocol {
    // Safe because a test posts in one thread at a time.
    nonisolated(unsafe) let call = call
    return NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) { call($0) }
}
