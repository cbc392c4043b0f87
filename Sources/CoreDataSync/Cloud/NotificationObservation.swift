import Foundation

/// Observes notifications of one name until it is cancelled or deallocated.
final class NotificationObservation: @unchecked Sendable {
    // Safe because a notification centre takes its tokens on any thread.

    private let token: any NSObjectProtocol

    init(
        _ name: NSNotification.Name, of object: (any Sendable & AnyObject)? = nil,
        _ body: @escaping @Sendable (Notification) -> Void
    ) { token = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil, using: body) }

    deinit { cancel() }

    func cancel() { NotificationCenter.default.removeObserver(token) }
}
